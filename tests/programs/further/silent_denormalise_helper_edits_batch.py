import torch
import torch.nn as nn


def to_picture(tensor, mean=0.5, std=0.25):
    tensor.mul_(std).add_(mean)
    return (tensor[0] * 255).to(torch.uint8)


torch.manual_seed(0)
net = nn.Sequential(nn.Flatten(), nn.Linear(4, 2))
batch = (torch.rand(3, 1, 2, 2) - 0.5) / 0.25
reference = net(batch).detach()

picture = to_picture(batch)
scores = net(batch)
SILENTLY_WRONG = not torch.allclose(scores, reference)
