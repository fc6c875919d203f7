import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
backbone = nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), nn.BatchNorm2d(8), nn.SiLU(inplace=True), nn.Conv2d(8, 6, 1))
opt = torch.optim.SGD(backbone.parameters(), 0.01, momentum=0.9)
anchor = torch.tensor([2.0, 2.0])
for _ in range(2):
    images = torch.rand(2, 3, 8, 8)
    boxes = torch.tensor([[0, 1.5, 2.5, 1.0, 2.0], [1, 3.2, 0.4, 2.0, 1.0]])
    p = backbone(images).permute(0, 2, 3, 1)
    b, xy, wh = boxes[:, 0].long(), boxes[:, 1:3].clone(), boxes[:, 3:].clone()
    gx, gy = xy.long().T
    xy -= torch.stack([gx, gy], 1)
    wh.div_(anchor).log_()
    pick = p[b, gy, gx]
    obj = torch.zeros_like(p[..., 4])
    pred = torch.cat([pick[:, :2].sigmoid(), pick[:, 2:4].clamp(-4, 4)], 1)
    iou = (1 - (pred[:, :2] - xy).abs().sum(1)).detach().clamp_(0)
    obj[b, gy, gx] = iou
    loss = F.smooth_l1_loss(pred, torch.cat([xy, wh], 1)) + F.binary_cross_entropy_with_logits(p[..., 4], obj)
    cls = torch.full_like(pick[:, 5:], 0.05)
    cls[torch.arange(2), 0] = 0.95
    loss += F.binary_cross_entropy_with_logits(pick[:, 5:], cls)
    opt.zero_grad()
    loss.backward()
    opt.step()
with torch.no_grad():
    y = backbone.eval()(torch.rand(1, 3, 8, 8)).permute(0, 2, 3, 1).reshape(-1, 6)
    y[:, :2].sigmoid_().mul_(2).sub_(0.5)
    y[:, 4:].sigmoid_()
    keep = y[y[:, 4] > 0.4]
    keep[:, :2] -= keep[:, 2:4] / 2
