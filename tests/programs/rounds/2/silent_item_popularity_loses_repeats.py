import torch
from torch import nn


class PopularityRecommender(nn.Module):
    def __init__(self, num_items):
        super().__init__()
        self.register_buffer("counts", torch.zeros(num_items))

    @torch.no_grad()
    def partial_fit(self, items):
        self.counts[items] += 1
        return self

    def forward(self, k):
        return (self.counts / self.counts.sum()).topk(k)


def stream(interactions, batch_size):
    for start in range(0, len(interactions), batch_size):
        yield interactions[start:start + batch_size]


torch.manual_seed(0)
weights = torch.tensor([8.0, 4.0, 2.0, 1.0, 1.0])
interactions = torch.multinomial(weights, 64, replacement=True)

model = PopularityRecommender(num_items=5)
for batch in stream(interactions, 16):
    model.partial_fit(batch)

share = model.counts / model.counts.sum()
expected = torch.bincount(interactions, minlength=5) / len(interactions)
SILENTLY_WRONG = not torch.allclose(share, expected)
