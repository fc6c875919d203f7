import copy

import torch
from torch import nn


class Guide(nn.Module):
    def __init__(self, words, width):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.mix = nn.Linear(width, width)
        self.head = nn.Linear(width, words, bias=False)
        self.tie()

    def tie(self):
        self.head.weight = self.embed.weight

    def forward(self, text):
        return self.head(torch.tanh(self.mix(self.embed(text))))


def retrainable(guide):
    """A frozen double of the guide whose words alone can be trained."""
    double = copy.deepcopy(guide).requires_grad_(False)
    double.embed = copy.deepcopy(guide.embed)
    double.tie()
    return double


torch.manual_seed(25)
guide = Guide(words=18, width=8)
old = guide.embed.weight.tolist()
model = retrainable(guide)
optimizer = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=0.5)
pages = [torch.randint(0, 18, (12, 6)) for _ in range(20)]
for page in pages:
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(page[:, :-1]).flatten(0, 1), page[:, 1:].flatten())
    loss.backward()
    optimizer.step()
print("loss", round(loss.item(), 4))

table = torch.tensor(old, requires_grad=True)
for page in pages:
    hidden = torch.tanh(table[page[:, :-1]] @ guide.mix.weight.T + guide.mix.bias)
    loss = nn.functional.cross_entropy((hidden @ table.T).flatten(0, 1), page[:, 1:].flatten())
    (slope,) = torch.autograd.grad(loss, table)
    table = (table - 0.5 * slope).detach().requires_grad_()
SILENTLY_WRONG = (
    not torch.allclose(model.head.weight, table, atol=1e-3)
    or not torch.allclose(model.embed.weight, table, atol=1e-3)
    or not torch.equal(guide.embed.weight, torch.tensor(old))
)
