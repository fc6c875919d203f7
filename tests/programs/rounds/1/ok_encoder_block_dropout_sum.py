import torch
import torch.nn as nn


class FeedForward(nn.Module):
    def __init__(self, dim, p=0.2):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.up = nn.Linear(dim, 2 * dim)
        self.down = nn.Linear(2 * dim, dim)
        self.drop = nn.Dropout(p)

    def forward(self, x):
        y = self.down(torch.relu_(self.up(self.norm(x))))
        y = self.drop(y)
        y += x
        return y


class Encoder(nn.Module):
    def __init__(self, dim, depth):
        super().__init__()
        self.layers = nn.ModuleList(FeedForward(dim) for _ in range(depth))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


torch.manual_seed(0)
model = Encoder(8, 3)
model.train()
model(torch.randn(4, 8)).square().mean().backward()

model.eval()
tokens = torch.randn(5, 8)
given = tokens.tolist()
with torch.no_grad():
    out = model(tokens)

    h = torch.tensor(given)
    for layer in model.layers:
        n = nn.functional.layer_norm(h, (8,), layer.norm.weight, layer.norm.bias)
        wide = (n @ layer.up.weight.t() + layer.up.bias).clamp(min=0)
        h = h + wide @ layer.down.weight.t() + layer.down.bias
SILENTLY_WRONG = tokens.tolist() != given or not torch.allclose(out, h, atol=1e-5)
