import torch
from torch import nn


class ResBlock(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, width)
        self.act = nn.SiLU()

    def forward(self, x):
        return x + self.act(self.linear(x))


class LoadForecaster(nn.Module):
    """A trunk reads the grid load of today; one head for each of the coming hours."""

    def __init__(self, inputs, width, hours, layers):
        super().__init__()
        self.trunk = nn.Linear(inputs, width)
        self.heads = nn.ModuleList(
            nn.Sequential(*([ResBlock(width)] * layers), nn.Linear(width, 1)) for _ in range(hours)
        )

    def forward(self, x):
        x = torch.tanh(self.trunk(x))
        return torch.cat([head(x) for head in self.heads], dim=1)


def fit(model, today, coming, epochs):
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(epochs):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(today), coming)
        loss.backward()
        optimizer.step()
    return float(loss)


torch.manual_seed(21)
width, hours, layers = 6, 3, 2
today = torch.randn(80, 8, dtype=torch.float64)
coming = torch.stack([today[:, k] * today[:, k + 1] for k in range(hours)], dim=1)
model = LoadForecaster(8, width, hours, layers).double()
print("error at the end", fit(model, today, coming, epochs=60))
size = sum(p.numel() for p in model.parameters())

trunk = 8 * width + width
head = layers * (width * width + width) + width + 1
blocks = [[m.linear.weight for m in h.modules() if isinstance(m, ResBlock)] for h in model.heads]
alone = all(len(b) == layers for b in blocks)
SILENTLY_WRONG = size != trunk + hours * head or not alone
