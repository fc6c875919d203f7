import torch
import torch.nn as nn


class Pointer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.query = nn.Linear(width, width, bias=False)
        self.key = nn.Linear(width, width, bias=False)

    def forward(self, stops, lengths):
        query = self.query(stops.sum(dim=1)).unsqueeze(-1)
        scores = (self.key(stops) @ query).squeeze(-1)
        padding = torch.arange(stops.size(1)) >= lengths.unsqueeze(1)
        scores.masked_fill(padding, float("-inf"))
        return scores.softmax(dim=-1)


torch.manual_seed(16)
routes = [torch.randn(n, 5) for n in (3, 7, 5)]
lengths = torch.tensor([len(r) for r in routes])
stops = nn.utils.rnn.pad_sequence(routes, batch_first=True)
pointer = Pointer(5)
chances = pointer(stops, lengths)

expected = torch.zeros_like(chances)
for i, route in enumerate(routes):
    query = pointer.query(route.sum(dim=0))
    expected[i, :len(route)] = torch.softmax(pointer.key(route) @ query, dim=0)
SILENTLY_WRONG = not torch.allclose(chances, expected, atol=1e-5)
