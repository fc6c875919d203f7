import torch
import torch.nn as nn


class Values(nn.Module):
    def __init__(self, inputs, actions, width):
        super().__init__()
        self.learned = nn.Sequential(nn.Linear(inputs, width), nn.Tanh(), nn.Linear(width, actions))
        self.steady = nn.Linear(inputs, actions)

    def forward(self, state, damping):
        learned, steady = self.learned(state), self.steady(state)
        steady.register_hook(lambda slope: slope.mul_(damping))
        return learned + steady


def learn(values, batches, damping, rate):
    optimizer = torch.optim.SGD(values.parameters(), lr=rate)
    for state, action, target in batches:
        chosen = values(state, damping).gather(1, action[:, None]).squeeze(1)
        optimizer.zero_grad()
        (chosen - target).square().mean().backward()
        optimizer.step()


torch.manual_seed(150)
values = Values(inputs=5, actions=3, width=6)
begin = {name: p.detach().clone() for name, p in values.named_parameters()}
batches = [(torch.randn(16, 5), torch.randint(0, 3, (16,)), torch.randn(16)) for _ in range(8)]
learn(values, batches, damping=0.1, rate=0.2)

weights = begin
for state, action, target in batches:
    weights = {name: w.clone().requires_grad_() for name, w in weights.items()}
    hidden = torch.tanh(state @ weights["learned.0.weight"].T + weights["learned.0.bias"])
    table = hidden @ weights["learned.2.weight"].T + weights["learned.2.bias"]
    table = table + state @ weights["steady.weight"].T + weights["steady.bias"]
    loss = (table[torch.arange(16), action] - target).square().mean()
    slopes = torch.autograd.grad(loss, list(weights.values()))
    scales = [0.1 if name.startswith("steady") else 1.0 for name in weights]
    weights = {name: (w - 0.2 * k * g).detach() for (name, w), k, g in zip(weights.items(), scales, slopes)}
SILENTLY_WRONG = not torch.allclose(values.learned[0].weight, weights["learned.0.weight"], atol=1e-5)
