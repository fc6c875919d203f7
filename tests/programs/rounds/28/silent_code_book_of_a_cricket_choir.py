import torch
from torch import nn


class Choir(nn.Module):
    """Guesses each hidden chirp from its neighbours; the goal is a mix of learnt chirps."""

    def __init__(self, width, entries):
        super().__init__()
        self.guess = nn.Linear(2 * width, width)
        self.pick = nn.Linear(width, entries)
        self.book = nn.Parameter(torch.randn(entries, width))

    def quantize(self, chirps):
        return torch.softmax(self.pick(chirps), dim=-1) @ self.book

    def forward(self, chirps):
        around = torch.cat([chirps[:, :-2], chirps[:, 2:]], dim=-1)
        targets = self.quantize(chirps[:, 1:-1]).detach()
        return self.guess(around), targets


def choir_loss(guesses, targets):
    return (1 - nn.functional.cosine_similarity(guesses, targets, dim=-1)).mean()


torch.manual_seed(27)
chirps = torch.randn(6, 9, 4).cumsum(dim=1)
choir = Choir(4, entries=5)
start = {name: p.detach().clone() for name, p in choir.named_parameters()}
optimizer = torch.optim.SGD(choir.parameters(), lr=0.2)
for _ in range(30):
    optimizer.zero_grad()
    loss = choir_loss(*choir(chirps))
    loss.backward()
    optimizer.step()
print("loss", loss.item(), "length of the entries", choir.book.norm(dim=1).tolist())

p = {name: value.requires_grad_() for name, value in start.items()}
for _ in range(30):
    mix = torch.softmax(chirps[:, 1:-1] @ p["pick.weight"].T + p["pick.bias"], dim=-1) @ p["book"]
    said = torch.cat([chirps[:, :-2], chirps[:, 2:]], dim=-1) @ p["guess.weight"].T + p["guess.bias"]
    grads = torch.autograd.grad(choir_loss(said, mix), list(p.values()))
    p = {name: (v - 0.2 * g).detach().requires_grad_() for (name, v), g in zip(p.items(), grads, strict=True)}
SILENTLY_WRONG = not torch.allclose(choir.book, p["book"], atol=1e-4)
