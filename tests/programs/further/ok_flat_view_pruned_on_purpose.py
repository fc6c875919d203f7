import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Linear(6, 2)
with torch.no_grad():
    flat = net.weight.view(-1)
    drop = flat.abs().argsort()[:4]
    flat[drop] = 0
    saliency = torch.randn(2, 3)
    rows = saliency.view(-1)
    rows -= rows.min()
    rows /= rows.max()
    heat = saliency.max()
out = net(torch.randn(3, 6)).sum() + heat
