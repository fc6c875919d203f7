import copy

import torch
from torch import nn


class Speller(nn.Module):
    def __init__(self, words, width):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.mix = nn.Linear(width, width)
        self.head = nn.Linear(width, words, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, text):
        return self.head(torch.tanh(self.mix(self.embed(text))))


class Retrainable(nn.Module):
    """Freezes a model and gives it fresh trainable doubles of the named parts."""

    def __init__(self, base, parts):
        super().__init__()
        base.requires_grad_(False)
        self.base = base
        for part in parts:
            double = copy.deepcopy(getattr(base, part))
            double.requires_grad_(True)
            setattr(base, part, double)

    def forward(self, text):
        return self.base(text)


torch.manual_seed(17)
speller = Speller(words=20, width=8)
table = speller.embed.weight.detach().clone()
mix, shift = speller.mix.weight.detach().clone(), speller.mix.bias.detach().clone()
pages = [torch.randint(0, 20, (16, 7)) for _ in range(25)]

model = Retrainable(speller, parts=["embed", "head"])
optimizer = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=0.5)
for page in pages:
    answer = model(page[:, :-1])
    loss = nn.functional.cross_entropy(answer.flatten(0, 1), page[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("loss", round(loss.item(), 4))

for page in pages:
    table.requires_grad_()
    answer = torch.tanh(table[page[:, :-1]] @ mix.T + shift) @ table.T
    loss = nn.functional.cross_entropy(answer.flatten(0, 1), page[:, 1:].flatten())
    (slope,) = torch.autograd.grad(loss, table)
    table = (table - 0.5 * slope).detach()
expected = torch.tanh(table[pages[0]] @ mix.T + shift) @ table.T
SILENTLY_WRONG = not torch.allclose(model(pages[0]), expected, atol=1e-3)
