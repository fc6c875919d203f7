from copy import deepcopy

import torch
from torch import nn


class EMAHandler:
    def __init__(self, model, momentum=0.1):
        self.model = model
        self.momentum = momentum
        self.ema_model = deepcopy(model)
        for p in self.ema_model.parameters():
            p.detach_()

    @torch.no_grad()
    def update(self):
        for ema_p, model_p in zip(self.ema_model.parameters(), self.model.parameters()):
            ema_p.mul_(1.0 - self.momentum).add_(model_p.data, alpha=self.momentum)
        for ema_b, model_b in zip(self.ema_model.buffers(), self.model.buffers()):
            ema_b.data = model_b.data


def mean_teacher(student, handler, weak, strong, labels, lr=0.05):
    optimizer = torch.optim.SGD(student.parameters(), lr=lr)
    teacher = handler.ema_model
    student.train()
    teacher.train()
    for clean, noisy, label in zip(weak, strong, labels):
        with torch.no_grad():
            guess = torch.sigmoid(teacher(clean))
        out = torch.sigmoid(student(noisy))
        loss = nn.functional.binary_cross_entropy(out[:8], label) + (out - guess).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        handler.update()
    return student.eval(), teacher.eval()


torch.manual_seed(2)
weak = torch.randn(12, 24, 10) + 1.0
strong = weak * 2.0 + torch.randn(12, 24, 10)
labels = (weak[:, :8, :3] > 1.0).float()
student = nn.Sequential(nn.BatchNorm1d(10), nn.Linear(10, 3))
student, teacher = mean_teacher(student, EMAHandler(student), weak, strong, labels)
print("student mean", student[0].running_mean[:3].tolist(), "teacher mean", teacher[0].running_mean[:3].tolist())


def running(batches):
    mean = torch.zeros(10)
    for batch in batches:
        mean = 0.9 * mean + 0.1 * batch.mean(dim=0)
    return mean


SILENTLY_WRONG = not (torch.allclose(student[0].running_mean, running(strong), atol=1e-5)
                      and torch.allclose(teacher[0].running_mean, running(weak), atol=1e-5))
