import torch


class Roof:
    def __init__(self, hours, wind):
        self.hours, self.wind = hours, wind

    def slope(self, model):
        miss = self.hours @ model - self.wind
        return 2 * miss @ self.hours / len(miss)


def gather(reports, inbox):
    for slot, report in zip(inbox, reports):
        slot.copy_(report)
    return inbox


class Coordinator:
    """Middle of the reports, so that one broken sensor does no harm."""

    def __init__(self, roofs, size, rate):
        self.roofs, self.rate = roofs, rate
        self.model = torch.zeros(size)
        self.inbox = [torch.zeros(size) for _ in roofs]
        self.last = None

    def round(self):
        gather((roof.slope(self.model) for roof in self.roofs), self.inbox)
        self.last = torch.stack(self.inbox).median(dim=0).values
        self.model.sub_(self.last, alpha=self.rate)

    def fit(self, rounds):
        norms = []
        for _ in range(rounds):
            self.round()
            norms.append(self.last.norm())
        return self.model, torch.stack(norms)


torch.manual_seed(45)
truth = torch.tensor([0.4, 1.1])
roofs = []
for k in range(7):
    hours = torch.randn(12, 2)
    wind = hours @ truth + 0.1 * torch.randn(12)
    roofs.append(Roof(hours, wind if k < 5 else wind + 20 * torch.randn(12)))
model, norms = Coordinator(roofs, 2, rate=0.1).fit(rounds=25)

wanted, lengths = torch.zeros(2), []
for _ in range(25):
    reports = []
    for r in roofs:
        reports.append(((r.hours * wanted).sum(1, keepdim=True) - r.wind[:, None]).mul(r.hours).mean(0) * 2)
    middle = torch.stack(reports).sort(dim=0).values[3]
    wanted = wanted - 0.1 * middle
    lengths.append(middle.norm())
same = torch.allclose(norms, torch.stack(lengths), atol=1e-3)
SILENTLY_WRONG = not (same and torch.allclose(model, wanted, atol=1e-4))
