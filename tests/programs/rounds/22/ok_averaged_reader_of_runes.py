import copy

import torch
from torch import nn


class ModelEMA:
    def __init__(self, model, decay):
        self.module = copy.deepcopy(model).eval()
        self.decay = decay
        self.shadow = dict(self.module.named_parameters())
        for p in self.shadow.values():
            p.requires_grad_(False)

    @torch.no_grad()
    def update(self, model):
        for name, p in model.named_parameters():
            self.shadow[name].lerp_(p, 1 - self.decay)


class Reader(nn.Module):
    """No running statistics here, the norm works on each rune by itself."""

    def __init__(self, strokes, kinds):
        super().__init__()
        self.embed = nn.Linear(strokes, 10)
        self.norm = nn.LayerNorm(10)
        self.head = nn.Linear(10, kinds)
        self.register_buffer("scale", torch.full((strokes,), 0.5))

    def forward(self, x):
        return self.head(torch.relu(self.norm(self.embed(x * self.scale))))


torch.manual_seed(35)
reader = Reader(strokes=7, kinds=4)
ema = ModelEMA(reader, decay=0.85)
optimizer = torch.optim.AdamW(reader.parameters(), lr=0.05)
snapshots = [copy.deepcopy(reader.state_dict())]
for step in range(20):
    x, kind = torch.randn(16, 7), torch.randint(4, (16,))
    loss = nn.functional.cross_entropy(reader(x), kind)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    ema.update(reader)
    snapshots.append(copy.deepcopy(reader.state_dict()))
runes = torch.randn(5, 7)
scores = ema.module(runes)
print("kinds", scores.argmax(dim=1).tolist())

n = len(snapshots) - 1
weights = [0.85 ** n] + [0.15 * 0.85 ** (n - k) for k in range(1, n + 1)]
mean = {name: sum(w * s[name] for w, s in zip(weights, snapshots)) for name in snapshots[0]}
hidden = (runes * 0.5) @ mean["embed.weight"].T + mean["embed.bias"]
hidden = nn.functional.layer_norm(hidden, (10,), mean["norm.weight"], mean["norm.bias"]).relu()
SILENTLY_WRONG = not torch.allclose(scores, hidden @ mean["head.weight"].T + mean["head.bias"], atol=1e-4)
