import torch
from torch import nn


class Keeper:
    """Keeps the weights of the best epoch in tensors of its own, which are overwritten by each better one."""

    def __init__(self, model):
        self.kept = {name: torch.empty_like(value) for name, value in model.state_dict().items()}
        self.error = float("inf")

    def offer(self, model, error):
        if error < self.error:
            self.error = error
            for name, value in model.state_dict().items():
                self.kept[name].copy_(value)

    def put_back(self, model):
        model.load_state_dict(self.kept)


def pot(count):
    leaf = torch.randn(count, 9)
    return leaf, (leaf[:, :1] - 0.4 * leaf[:, 2:3]) + 0.8 * torch.randn(count, 1)


def error(model, leaf, score):
    with torch.no_grad():
        return nn.functional.mse_loss(model(leaf), score).item()


torch.manual_seed(41)
train, valid = pot(28), pot(150)
taster = nn.Sequential(nn.Linear(9, 40), nn.ReLU(), nn.Linear(40, 1))
optimizer = torch.optim.Adam(taster.parameters(), lr=0.02)
keeper = Keeper(taster)
errors = []
for epoch in range(100):
    optimizer.zero_grad()
    nn.functional.mse_loss(taster(train[0]), train[1]).backward()
    optimizer.step()
    errors.append(error(taster, *valid))
    keeper.offer(taster, errors[-1])
last = errors[-1]
keeper.put_back(taster)
final = error(taster, *valid)
print("best", round(min(errors), 4), "last", round(last, 4), "kept", round(final, 4))
SILENTLY_WRONG = abs(final - min(errors)) > 1e-5
