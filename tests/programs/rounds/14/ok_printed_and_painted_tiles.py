import torch
import torch.nn as nn
import torch.nn.functional as F


class BoundedLinear(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(outputs, inputs))
        self.register_buffer("left", F.normalize(torch.randn(outputs), dim=0))
        self.register_buffer("right", torch.empty(inputs))

    @torch.no_grad()
    def iterate(self, times=2):
        for _ in range(times):
            torch.mv(self.weight.T, self.left, out=self.right)
            self.right /= self.right.norm()
            torch.mv(self.weight, self.right, out=self.left)
            self.left /= self.left.norm()

    def forward(self, x):
        if self.training:
            self.iterate()
        left, right = self.left.clone(), self.right.clone()
        return x @ (self.weight / (left @ (self.weight @ right))).T


class Judge(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = BoundedLinear(7, 5), nn.Linear(5, 1)

    def forward(self, x):
        return self.head(F.relu(self.body(x), inplace=True))


torch.manual_seed(331)
judge = Judge()
left, weight = judge.body.left.clone(), judge.body.weight.detach().clone().requires_grad_()
painted, printed = torch.randn(9, 7), torch.randn(9, 7)
(judge(printed) - judge(painted)).mean().backward()
slope = judge.body.weight.grad

terms = []
for batch, sign in ((printed, 1), (painted, -1)):
    for _ in range(2):
        right = F.normalize(weight.detach().T @ left, dim=0)
        left = F.normalize(weight.detach() @ right, dim=0)
    hidden = F.relu(batch @ (weight / (left @ weight @ right)).T)
    terms.append(sign * judge.head(hidden).mean())
expected, = torch.autograd.grad(sum(terms), weight)
SILENTLY_WRONG = not torch.allclose(slope, expected, atol=1e-5)
