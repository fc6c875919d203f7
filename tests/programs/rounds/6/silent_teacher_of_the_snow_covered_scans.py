import copy

import torch
import torch.nn as nn


class ScanNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.lift, self.norm, self.head = nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Linear(8, 3)

    def forward(self, points):
        return self.head(torch.relu(self.norm(self.lift(points))))


@torch.no_grad()
def update_teacher(teacher, student, momentum):
    for t, s in zip(teacher.parameters(), student.parameters()):
        t.mul_(momentum).add_(s, alpha=1 - momentum)


torch.manual_seed(615)
student = ScanNet()
teacher = copy.deepcopy(student).eval()
by_hand = {name: p.detach().clone() for name, p in student.named_parameters()}
optimizer = torch.optim.SGD(student.parameters(), lr=0.05)
for step in range(60):
    points = 2 + 3 * torch.randn(64, 4)
    label = (points[:, 0] > 2).long() + (points[:, 1] > 5).long()
    optimizer.zero_grad()
    nn.functional.cross_entropy(student(points), label).backward()
    optimizer.step()
    update_teacher(teacher, student, 0.9)
    for name, p in student.named_parameters():
        by_hand[name] = 0.9 * by_hand[name] + 0.1 * p.detach()

snow = 2 + 3 * torch.randn(200, 4)
with torch.no_grad():
    pseudo = teacher(snow)
    statistics = {name: b.clone() for name, b in student.named_buffers()}
    expected = torch.func.functional_call(copy.deepcopy(student).eval(), {**by_hand, **statistics}, (snow,))
SILENTLY_WRONG = not torch.allclose(pseudo, expected, atol=1e-4)
