import torch
from torch import nn


class HitRate(nn.Module):
    """Counts of forecast against rain, kept over one epoch."""

    def __init__(self):
        super().__init__()
        self.register_buffer("table", torch.zeros(2, 2, dtype=torch.int64))

    def forward(self, warned, rained):
        here = torch.zeros_like(self.table)
        here.index_put_((warned.long(), rained.long()), torch.ones(len(warned), dtype=torch.int64), accumulate=True)
        self.table += here

    def get_metric(self):
        hits, misses = self.table[1, 1].item(), self.table[0, 1].item()
        return hits / max(hits + misses, 1)

    def reset(self):
        self.table.zero_()


def run_epoch(model, batches, metric, optimizer=None):
    metric.reset()
    for sky, rained in batches:
        logits = model(sky).squeeze(1)
        if optimizer is not None:
            optimizer.zero_grad()
            nn.functional.binary_cross_entropy_with_logits(logits, rained.float()).backward()
            optimizer.step()
        metric(logits > 0, rained)
    return metric.get_metric()


torch.manual_seed(47)
sky = torch.randn(120, 4)
rained = sky[:, 0] - sky[:, 2] + 0.8 * torch.randn(120) > 0.3
batches = list(zip(sky.split(20), rained.split(20)))
model, metric = nn.Linear(4, 1), HitRate()
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
rates = []
for _ in range(5):
    run_epoch(model, batches[:4], metric, optimizer)
    rates.append(run_epoch(model, batches[4:], metric))
print("hit rates", rates)

late, true = sky[80:] @ model.weight.detach()[0] + model.bias.detach(), rained[80:]
expected = ((late > 0) & true).sum().item() / true.sum().item()
SILENTLY_WRONG = abs(rates[-1] - expected) > 1e-6
