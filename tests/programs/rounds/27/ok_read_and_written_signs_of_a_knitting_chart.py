import torch
from torch import nn


class ChartReader(nn.Module):
    """One table of stitches for reading and for writing, in the archive as well."""

    def __init__(self, signs, width):
        super().__init__()
        self.read = nn.Embedding(signs, width)
        self.mix = nn.Linear(width, width)
        self.write = nn.Linear(width, signs, bias=False)
        self.write.weight = self.read.weight

    def forward(self, row):
        return self.write(torch.tanh(self.mix(self.read(row)).mean(dim=1)))


torch.manual_seed(49)
teacher = ChartReader(9, 5)
rows = torch.randint(0, 9, (30, 4))
after = rows[:, -1]
optimizer = torch.optim.Adam(teacher.parameters(), lr=0.02)
for _ in range(20):
    optimizer.zero_grad()
    nn.functional.cross_entropy(teacher(rows), after).backward()
    optimizer.step()
archive = {name: p.clone() for name, p in teacher.state_dict().items()}
reader = ChartReader(9, 5)
reader.load_state_dict(archive)
with torch.no_grad():
    reader.read.weight[0] += 0.5
    scores = reader(rows)
print("right stitches", float((scores.argmax(dim=1) == after).float().mean()))

table = archive["read.weight"].clone()
table[0] += 0.5
seen = torch.stack([sum(table[s] for s in row) / 4 for row in rows.tolist()])
expected = torch.tanh(seen @ archive["mix.weight"].T + archive["mix.bias"]) @ table.T
SILENTLY_WRONG = not torch.allclose(scores, expected, atol=1e-4)
