import torch
from torch import nn


class TideReader(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.width = width
        self.rnn = nn.GRU(1, width, batch_first=True)
        self.out = nn.Linear(width, 1)

    def init_hidden(self, gauges):
        return torch.zeros(1, gauges, self.width)

    def forward(self, level, hidden):
        states, hidden = self.rnn(level, hidden)
        return self.out(states), hidden


def repackage(hidden):
    return hidden.detach()


def train(reader, series, piece, lr):
    optimizer = torch.optim.SGD(reader.parameters(), lr=lr)
    hidden = reader.init_hidden(len(series))
    losses = []
    for start in range(0, series.shape[1] - 1, piece):
        here = series[:, start : start + piece]
        ahead = series[:, start + 1 : start + piece + 1]
        hidden = repackage(hidden)
        optimizer.zero_grad()
        guess, hidden = reader(here[:, : ahead.shape[1]], hidden)
        loss = (guess - ahead).pow(2).mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses, hidden


def predict(reader, series, piece):
    hidden = reader.init_hidden(len(series))
    parts = []
    with torch.no_grad():
        for part in series.split(piece, dim=1):
            guess, hidden = reader(part, hidden)
            parts.append(guess)
    return torch.cat(parts, dim=1)


torch.manual_seed(38)
hour = torch.arange(121.0)
series = torch.stack([torch.sin(hour / 2 + k) for k in range(3)]).unsqueeze(2)
reader = TideReader(6)
losses, _ = train(reader, series, piece=20, lr=0.2)
found = predict(reader, series, piece=30)
print("losses", losses[0], losses[-1])
whole, _ = reader(series, reader.init_hidden(3))
SILENTLY_WRONG = not torch.allclose(found, whole, atol=1e-5)
