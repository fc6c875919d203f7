import torch
import torch.nn as nn
import torch.nn.functional as F


class DecayedDescent(torch.optim.Optimizer):
    def __init__(self, params, lr, decay):
        super().__init__(params, dict(lr=lr, decay=decay))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                direction = p.grad
                if group["decay"]:
                    direction.add_(p, alpha=group["decay"])
                p.add_(direction, alpha=-group["lr"])


def train_and_weigh(net, batches, optimizer):
    importance = {name: torch.zeros_like(p) for name, p in net.named_parameters()}
    for x, y in batches:
        optimizer.zero_grad()
        F.cross_entropy(net(x), y).backward()
        optimizer.step()
        for name, p in net.named_parameters():
            importance[name] += p.grad.square() / len(batches)
    return importance


torch.manual_seed(2)
net = nn.Linear(5, 3)
weight, bias = net.weight.detach().clone(), net.bias.detach().clone()
batches = [(torch.randn(12, 5), torch.randint(0, 3, (12,))) for _ in range(10)]
importance = train_and_weigh(net, batches, DecayedDescent(net.parameters(), 0.1, 0.5))

expected = torch.zeros_like(weight)
for x, y in batches:
    slope = (x @ weight.T + bias).softmax(dim=1) - F.one_hot(y, 3)
    by_weight, by_bias = slope.T @ x / 12, slope.mean(dim=0)
    expected = expected + by_weight.square() / 10
    weight = weight - 0.1 * (by_weight + 0.5 * weight)
    bias = bias - 0.1 * (by_bias + 0.5 * bias)
SILENTLY_WRONG = not torch.allclose(importance["weight"], expected, atol=1e-6)
