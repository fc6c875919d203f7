import torch
import torch.nn as nn


class Aligner(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.query = nn.Linear(width, width, bias=False)
        self.memory = nn.Linear(width, width, bias=False)
        self.v = nn.Linear(width, 1, bias=False)

    def forward(self, query, memory, lengths):
        energy = torch.tanh(self.query(query)[:, None] + self.memory(memory))
        alignment = self.v(energy).squeeze(-1)
        hidden = torch.arange(memory.shape[1]) >= lengths[:, None]
        alignment.data.masked_fill_(hidden, float("-inf"))
        weight = alignment.softmax(dim=-1)
        return torch.bmm(weight[:, None], memory)[:, 0]


torch.manual_seed(866)
aligner = Aligner(6)
query, memory = torch.randn(3, 6), torch.randn(3, 9, 6)
lengths = torch.tensor([9, 5, 7])
aligner(query, memory, lengths).pow(2).sum().backward()

total = 0.0
for q, m, n in zip(query, memory, lengths.tolist()):
    energy = torch.tanh(aligner.query(q) + aligner.memory(m[:n]))
    total = total + (aligner.v(energy)[:, 0].softmax(dim=0) @ m[:n]).pow(2).sum()
expected = torch.autograd.grad(total, list(aligner.parameters()))
SILENTLY_WRONG = not all(torch.allclose(p.grad, g, atol=1e-5) for p, g in zip(aligner.parameters(), expected))
