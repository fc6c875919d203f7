import torch
import torch.nn as nn


class Block(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.proj = nn.Linear(dim, dim)
        self.scale = nn.Parameter(torch.full((dim,), 0.5))

    def forward(self, x):
        return x + self.scale * torch.tanh(self.proj(self.norm(x)))


@torch.no_grad()
def decay_weights(model, rate):
    for module in model.modules():
        if isinstance(module, nn.LayerNorm):
            continue
        for name, param in module.named_parameters(recurse=False):
            if name != "bias":
                param.mul_(1 - rate)


@torch.no_grad()
def sgd(model, lr):
    for param in model.parameters():
        param.sub_(param.grad, alpha=lr)
        param.grad = None


def build():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 6), nn.Sequential(Block(6), Block(6)), nn.Linear(6, 2))


def batches():
    gen = torch.Generator().manual_seed(1)
    return [(torch.randn(9, 4, generator=gen), torch.randint(0, 2, (9,), generator=gen)) for _ in range(4)]


model = build()
for x, y in batches():
    nn.functional.cross_entropy(model(x), y).backward()
    decay_weights(model, 0.02)
    sgd(model, 0.1)

expected = build()
named = dict(expected.named_parameters())
decayed = [p for n, p in named.items() if not n.endswith("bias") and ".norm." not in n]
others = [p for n, p in named.items() if n.endswith("bias") or ".norm." in n]
optimizer = torch.optim.SGD([{"params": decayed, "weight_decay": 0.2}, {"params": others}], lr=0.1)
for x, y in batches():
    optimizer.zero_grad()
    nn.functional.cross_entropy(expected(x), y).backward()
    optimizer.step()
SILENTLY_WRONG = not all(
    torch.allclose(a, b, atol=1e-5) for a, b in zip(model.parameters(), expected.parameters())
)
