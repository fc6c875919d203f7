import copy

import torch
import torch.nn as nn


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(9, 14)
        self.out = nn.Linear(14, 5)

    def forward(self, page):
        return self.out(torch.tanh_(self.hidden(page)))


def watch(net):
    kept = {}

    def keep(module, inputs, output):
        kept["hidden"] = output.clone()

    net.hidden.register_forward_hook(keep)
    return kept


def coarse_student(teacher, step):
    student = copy.deepcopy(teacher)
    with torch.no_grad():
        weight = student.hidden.weight
        weight.div_(step).round_().mul_(step)
    return student


torch.manual_seed(126)
teacher = Reader()
pages = torch.randn(25, 9)
student = coarse_student(teacher, step=0.1)
read, repeated = watch(teacher), watch(student)
with torch.no_grad():
    teacher(pages)
    student(pages)
gap = (repeated["hidden"] - read["hidden"]).square().mean()

weight = teacher.hidden.weight.detach()
change = (weight / 0.1).round() * 0.1 - weight
expected = (pages @ change.T).square().mean()
SILENTLY_WRONG = not torch.allclose(gap, expected, rtol=1e-4)
