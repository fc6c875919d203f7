import torch
from torch import nn


class InputEncoder(nn.Module):
    def __init__(self, features, hidden, steps):
        super().__init__()
        self.hidden, self.steps = hidden, steps
        self.lstm = nn.LSTMCell(features, hidden)
        self.attention = nn.Linear(2 * hidden + steps, 1)

    def forward(self, series):
        weighted = torch.zeros_like(series)
        encoded = torch.zeros(series.size(0), self.steps, self.hidden)
        hidden = cell = torch.zeros(series.size(0), self.hidden)
        for t in range(self.steps):
            state = torch.cat([hidden, cell], dim=1).unsqueeze(1).expand(-1, series.size(2), -1)
            scores = self.attention(torch.cat([state, series.transpose(1, 2)], dim=2)).squeeze(2)
            weighted[:, t] = torch.softmax(scores, dim=1) * series[:, t]
            hidden, cell = self.lstm(weighted[:, t], (hidden, cell))
            encoded[:, t] = hidden
        return weighted, encoded


torch.manual_seed(0)
encoder = InputEncoder(3, 4, 5)
weighted, encoded = encoder(torch.randn(2, 5, 3))
loss = encoded[:, -1].pow(2).mean() + weighted.abs().mean()
loss.backward()
