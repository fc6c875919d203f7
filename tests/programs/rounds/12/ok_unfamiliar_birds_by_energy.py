import torch
import torch.nn as nn


def species_loss(logits, target):
    scores = logits.float()
    scores -= scores.max(dim=-1, keepdim=True).values
    picked = scores.gather(1, target[:, None]).squeeze(1)
    total = scores.exp_().sum(dim=-1)
    return (total.log() - picked).mean()


class Station:
    def __init__(self, net):
        self.net = net.to(torch.bfloat16).eval()
        self.losses, self.energies = [], []

    @torch.no_grad()
    def hear(self, x, species):
        logits = self.net(x.to(torch.bfloat16))
        self.losses.append(species_loss(logits, species))
        self.energies.append(-torch.logsumexp(logits.double(), dim=-1))

    def report(self):
        return torch.stack(self.losses), torch.cat(self.energies)


torch.manual_seed(43)
station = Station(nn.Linear(6, 4))
batches = [(torch.randn(7, 6) * (1 + k), torch.randint(0, 4, (7,))) for k in range(3)]
for x, species in batches:
    station.hear(x, species)
losses, energies = station.report()

with torch.no_grad():
    rows = [station.net(x.to(torch.bfloat16)).double() for x, _ in batches]
    expected = torch.cat([-row.exp().sum(dim=1).log() for row in rows])
    plain = [nn.functional.cross_entropy(row, species) for row, (_, species) in zip(rows, batches)]
right = torch.allclose(energies, expected) and torch.allclose(losses.double(), torch.stack(plain), atol=1e-4)
SILENTLY_WRONG = not right
