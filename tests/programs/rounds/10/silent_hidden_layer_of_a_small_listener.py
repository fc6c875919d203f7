import copy

import torch
import torch.nn as nn


class Listener(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(12, 16)
        self.out = nn.Linear(16, 3)

    def forward(self, sound):
        return self.out(torch.tanh(self.hidden(sound)))


def watch(net):
    kept = {}

    def keep(module, inputs, output):
        kept["hidden"] = output

    net.hidden.register_forward_hook(keep)
    return kept


def sparse_student(teacher, share):
    student = copy.deepcopy(teacher)
    with torch.no_grad():
        weight = student.hidden.weight
        weight[weight.abs() < weight.abs().quantile(share)] = 0
    return student


def hidden_gap(teacher, student, heard, repeated, sounds):
    with torch.no_grad():
        teacher(sounds)
        student(sounds)
    return (repeated["hidden"] - heard["hidden"]).square().mean()


torch.manual_seed(26)
teacher = Listener()
sounds = torch.randn(20, 12)
heard = watch(teacher)
student = sparse_student(teacher, share=0.4)
repeated = watch(student)
gap = hidden_gap(teacher, student, heard, repeated, sounds)

change = student.hidden.weight.detach() - teacher.hidden.weight.detach()
expected = (sounds @ change.T).square().mean()
SILENTLY_WRONG = not torch.allclose(gap, expected)
