import copy

import torch
from torch import nn
from torch.nn.functional import cross_entropy


class Reader(nn.Module):
    def __init__(self, letters=11, size=14):
        super().__init__()
        self.embed = nn.Embedding(letters, size)
        self.cell = nn.LSTM(size, size, batch_first=True)
        self.out = nn.Linear(size, letters)
        self.state = None

    def forward(self, letters):
        hidden, self.state = self.cell(self.embed(letters), self.state)
        return self.out(hidden)

    def forget_graph(self):
        for part in self.state:
            part.detach_()


torch.manual_seed(16)
text = torch.randint(0, 11, (3, 41))
reader = Reader()
twin = copy.deepcopy(reader)
optimizer = torch.optim.RMSprop(reader.parameters(), lr=2e-3)
for start in range(0, 40, 8):
    logits = reader(text[:, start:start + 8])
    loss = cross_entropy(logits.transpose(1, 2), text[:, start + 1:start + 9])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    reader.forget_graph()

optimizer = torch.optim.RMSprop(twin.parameters(), lr=2e-3)
h, c = torch.zeros(1, 3, 14), torch.zeros(1, 3, 14)
for start in range(0, 40, 8):
    hidden, (h_next, c_next) = twin.cell(twin.embed(text[:, start:start + 8]), (h, c))
    loss = cross_entropy(twin.out(hidden).transpose(1, 2), text[:, start + 1:start + 9])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    h, c = torch.tensor(h_next.tolist()), torch.tensor(c_next.tolist())
pairs = zip(reader.parameters(), twin.parameters())
SILENTLY_WRONG = not all(torch.allclose(a, b, atol=1e-4) for a, b in pairs)
