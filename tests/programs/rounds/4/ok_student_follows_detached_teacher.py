import copy

import torch
import torch.nn as nn


class Distiller(nn.Module):
    def __init__(self, student, teacher, decay=0.9):
        super().__init__()
        self.student, self.teacher, self.decay = student, teacher, decay

    def forward(self, view, other_view):
        target = self.teacher(other_view).detach_()
        target.sub_(target.mean(dim=0))
        return (self.student(view) - target).pow(2).mean()

    @torch.no_grad()
    def follow(self):
        for slow, fast in zip(self.teacher.parameters(), self.student.parameters()):
            slow.mul_(self.decay).add_(fast, alpha=1 - self.decay)


torch.manual_seed(24)
student = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 2))
distiller = Distiller(student, copy.deepcopy(student))
plain = copy.deepcopy(student)
slow = [p.detach().clone() for p in plain.parameters()]
optimizer = torch.optim.SGD(student.parameters(), lr=0.3)
for _ in range(6):
    view, other = torch.randn(10, 4), torch.randn(10, 4)
    optimizer.zero_grad()
    distiller(view, other).backward()
    optimizer.step()
    distiller.follow()

    aim = torch.tanh(other @ slow[0].t() + slow[1]) @ slow[2].t() + slow[3]
    loss = (plain(view) - (aim - aim.mean(dim=0))).pow(2).mean()
    grads = torch.autograd.grad(loss, list(plain.parameters()))
    fast = [(p - 0.3 * g).detach() for p, g in zip(plain.parameters(), grads)]
    nn.utils.vector_to_parameters(torch.cat([f.reshape(-1) for f in fast]), plain.parameters())
    slow = [0.9 * s + 0.1 * f for s, f in zip(slow, fast)]
SILENTLY_WRONG = not torch.allclose(student[0].weight, plain[0].weight, atol=1e-5)
