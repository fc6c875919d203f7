import torch
import torch.nn as nn
import torch.nn.functional as F


def erase(image, top, left, size):
    patch = image[:, top : top + size, left : left + size]
    patch.zero_()
    return image


torch.manual_seed(0)
net = nn.Sequential(nn.Flatten(), nn.Linear(64, 3))
clean = torch.rand(4, 8, 8)
honest = net(clean).detach()
erased = erase(clean, 2, 2, 4)
with torch.no_grad():
    teacher = net(clean).softmax(-1)
loss = F.kl_div(net(erased).log_softmax(-1), teacher, reduction="batchmean")
loss.backward()
SILENTLY_WRONG = not torch.allclose(teacher, honest.softmax(-1))
