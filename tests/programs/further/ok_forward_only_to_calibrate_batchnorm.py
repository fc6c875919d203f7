import torch
import torch.nn as nn

torch.manual_seed(0)
bn = nn.BatchNorm1d(3, momentum=None)
net = nn.Sequential(nn.Linear(2, 3), bn, nn.ReLU(inplace=True), nn.Linear(3, 1))
calibration = torch.randn(4, 8, 2)

bn.reset_running_stats()
for batch in calibration:
    last = net(batch)
kept = bn.running_mean.clone()
with torch.no_grad():
    bn.running_mean.copy_(0.5 * kept)
    bn.running_var.clamp_(min=1e-3)
net.eval()
score = net(calibration[0]).mean().item()
