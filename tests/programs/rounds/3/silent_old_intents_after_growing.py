import torch
from torch import nn

torch.manual_seed(0)


class IntentModel(nn.Module):
    def __init__(self, dim=12, n_intents=4):
        super().__init__()
        self.encoder = nn.Linear(20, dim)
        self.head = nn.Linear(dim, n_intents)
        self.finish_init()

    def finish_init(self):
        for module in self.modules():
            if isinstance(module, nn.Linear) and not getattr(module, "initialised", False):
                nn.init.normal_(module.weight, std=0.02)
                nn.init.zeros_(module.bias)
                module.initialised = True

    @torch.no_grad()
    def grow(self, extra):
        old = self.head
        self.head = nn.Linear(old.in_features, old.out_features + extra)
        self.head.weight[: old.out_features] = old.weight
        self.head.bias[: old.out_features] = old.bias
        self.finish_init()
        return self

    def forward(self, x):
        return self.head(torch.tanh(self.encoder(x)))


def train(model, x, y, steps=30):
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    for _ in range(steps):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()


x, y = torch.randn(40, 20), torch.randint(0, 4, (40,))
model = IntentModel()
train(model, x, y)
expected = model(x).detach()
model.grow(2)
SILENTLY_WRONG = not torch.allclose(model(x)[:, :4].detach(), expected, atol=1e-5)
