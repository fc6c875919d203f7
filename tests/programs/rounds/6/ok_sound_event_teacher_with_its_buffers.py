import copy

import torch
import torch.nn as nn


class MeanTeacher:
    def __init__(self, student, decay):
        self.student, self.decay = student, decay
        self.teacher = copy.deepcopy(student).requires_grad_(False).eval()

    @torch.no_grad()
    def update(self):
        torch._foreach_lerp_(list(self.teacher.parameters()), list(self.student.parameters()), 1 - self.decay)
        for t, s in zip(self.teacher.buffers(), self.student.buffers()):
            t.copy_(s)


torch.manual_seed(637)
student = nn.Sequential(nn.Conv1d(2, 4, 3), nn.BatchNorm1d(4), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 8, 3))
mean = MeanTeacher(student, 0.8)
optimizer = torch.optim.Adam(student.parameters(), lr=0.01)
snapshots = [[p.detach().clone() for p in student.parameters()]]
for _ in range(10):
    clips, events = 1 + torch.randn(12, 2, 10), torch.randint(0, 3, (12,))
    optimizer.zero_grad()
    nn.functional.cross_entropy(student(clips), events).backward()
    optimizer.step()
    mean.update()
    snapshots.append([p.detach().clone() for p in student.parameters()])

share = [0.8 ** 10] + [0.2 * 0.8 ** (10 - i) for i in range(1, 11)]
expected = [sum(s * p for s, p in zip(share, history)) for history in zip(*snapshots)]
close = [torch.allclose(t, e, atol=1e-5) for t, e in zip(mean.teacher.parameters(), expected)]
same = [torch.equal(t, s) for t, s in zip(mean.teacher.buffers(), student.buffers())]
SILENTLY_WRONG = not (all(close) and all(same))
