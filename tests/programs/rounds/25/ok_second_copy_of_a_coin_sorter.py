import copy

import torch
from torch import nn


class Sorter:
    def __init__(self, model, rate):
        self.model = model
        self.rate = rate
        self.optimizer = torch.optim.SGD(model.parameters(), lr=rate, momentum=0.9)

    def fit(self, x, y, epochs):
        for _ in range(epochs):
            self.optimizer.zero_grad()
            loss = nn.functional.cross_entropy(self.model(x), y)
            loss.backward()
            self.optimizer.step()
        return loss.item()

    def fork(self):
        """A copy that goes on from here, with momentum of its own."""
        twin = Sorter(copy.deepcopy(self.model), self.rate)
        twin.optimizer.load_state_dict(copy.deepcopy(self.optimizer.state_dict()))
        return twin


def purse(count, shift):
    coin = torch.randint(0, 3, (count,))
    return torch.randn(count, 5) + 2.0 * torch.eye(3, 5)[coin].roll(shift, dims=1), coin


torch.manual_seed(31)
sorter = Sorter(nn.Linear(5, 3), rate=0.05)
home, abroad = purse(90, 0), purse(90, 2)
sorter.fit(*home, epochs=20)
weight, bias = (p.tolist() for p in sorter.model.parameters())
speed = [sorter.optimizer.state[p]["momentum_buffer"].tolist() for p in sorter.model.parameters()]
twin = sorter.fork()
twin.fit(*abroad, epochs=20)
print("first on home", round(nn.functional.cross_entropy(sorter.model(home[0]), home[1]).item(), 4))

values = [torch.tensor(weight), torch.tensor(bias)]
speed = [torch.tensor(s) for s in speed]
for _ in range(20):
    w, b = (v.requires_grad_() for v in values)
    slopes = torch.autograd.grad(nn.functional.cross_entropy(abroad[0] @ w.T + b, abroad[1]), (w, b))
    speed = [0.9 * s + g for s, g in zip(speed, slopes)]
    values = [(v - 0.05 * s).detach() for v, s in zip((w, b), speed)]
SILENTLY_WRONG = not torch.allclose(twin.model.weight, values[0], atol=1e-4) or not torch.equal(
    sorter.model.weight, torch.tensor(weight)
)
