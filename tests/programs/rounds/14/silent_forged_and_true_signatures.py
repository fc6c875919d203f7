import torch
import torch.nn as nn
import torch.nn.functional as F


class BoundedLinear(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(outputs, inputs))
        self.register_buffer("left", F.normalize(torch.randn(outputs), dim=0))
        self.register_buffer("right", F.normalize(torch.randn(inputs), dim=0))

    def iterate(self):
        weight = self.weight.data
        self.right.data.copy_(F.normalize(weight.T @ self.left.data, dim=0))
        self.left.data.copy_(F.normalize(weight @ self.right.data, dim=0))

    def forward(self, x):
        self.iterate()
        sigma = self.left @ (self.weight @ self.right)
        return x @ (self.weight / sigma).T


class Expert(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = BoundedLinear(8, 6), nn.Linear(6, 1)

    def forward(self, x):
        return self.head(F.leaky_relu(self.body(x), 0.2))


def expert_loss(expert, true, forged):
    return F.relu(1 - expert(true)).mean() + F.relu(1 + expert(forged)).mean()


torch.manual_seed(60)
expert = Expert()
left, weight = expert.body.left.clone(), expert.body.weight.detach().clone().requires_grad_()
true, forged = torch.randn(10, 8), torch.randn(10, 8)
expert_loss(expert, true, forged).backward()
slope = expert.body.weight.grad

terms = []
for batch, sign in ((true, -1), (forged, 1)):
    right = F.normalize(weight.detach().T @ left, dim=0)
    left = F.normalize(weight.detach() @ right, dim=0)
    hidden = F.leaky_relu(batch @ (weight / (left @ weight @ right)).T, 0.2)
    terms.append(F.relu(1 + sign * expert.head(hidden)).mean())
expected, = torch.autograd.grad(sum(terms), weight)
SILENTLY_WRONG = not torch.allclose(slope, expected, atol=1e-5)
