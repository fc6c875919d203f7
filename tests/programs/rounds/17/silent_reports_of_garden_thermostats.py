import torch


class Garden:
    def __init__(self, days, warmth):
        self.days, self.warmth = days, warmth

    def slope(self, model):
        miss = self.days @ model - self.warmth
        return 2 * miss @ self.days / len(miss)


def gather(reports, inbox):
    for slot, report in zip(inbox, reports):
        slot.copy_(report)
    return inbox


class Coordinator:
    """Middle of the reports, so that one broken sensor does no harm."""

    def __init__(self, size, rate):
        self.size, self.rate = size, rate
        self.model = torch.zeros(size)

    def round(self, gardens):
        inbox = [torch.zeros(self.size)] * len(gardens)
        gather((g.slope(self.model) for g in gardens), inbox)
        self.model = self.model - self.rate * torch.stack(inbox).median(dim=0).values

    def fit(self, gardens, rounds):
        for _ in range(rounds):
            self.round(gardens)
        return self.model


torch.manual_seed(82)
truth = torch.tensor([1.0, -0.5, 0.25])
gardens = []
for k in range(5):
    days = torch.randn(16, 3)
    warmth = days @ truth + 0.1 * torch.randn(16)
    gardens.append(Garden(days, warmth if k < 4 else warmth + 30 * torch.randn(16)))
model = Coordinator(3, rate=0.1).fit(gardens, rounds=30)

wanted = torch.zeros(3)
for _ in range(30):
    reports = []
    for g in gardens:
        reports.append(((g.days * wanted).sum(1, keepdim=True) - g.warmth[:, None]).mul(g.days).mean(0) * 2)
    wanted = wanted - 0.1 * torch.stack(reports).sort(dim=0).values[2]
SILENTLY_WRONG = not torch.allclose(model, wanted, atol=1e-4)
