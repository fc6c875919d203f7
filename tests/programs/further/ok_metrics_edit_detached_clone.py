import torch
import torch.nn as nn
import torch.nn.functional as F


def dice(pred, target):
    pred = torch.sigmoid(pred.detach().clone())
    pred[pred >= 0.5] = 1.0
    pred[pred < 0.5] = 0.0
    return (2 * (pred * target).sum() + 1e-6) / (pred.sum() + target.sum() + 1e-6)


torch.manual_seed(0)
net = nn.Conv2d(1, 1, 3, padding=1)
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
image, mask = torch.randn(2, 1, 6, 6), (torch.rand(2, 1, 6, 6) > 0.5).float()
for _ in range(2):
    logits = net(image)
    loss = F.binary_cross_entropy_with_logits(logits, mask)
    score = dice(logits, mask)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
