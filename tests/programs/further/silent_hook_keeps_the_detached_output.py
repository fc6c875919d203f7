import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 4), nn.ReLU(inplace=True), nn.Linear(4, 2))
feats = {}


def keep(module, args, output):
    feats["fc"] = output.detach()


net[0].register_forward_hook(keep)
x = torch.randn(3, 4)
with torch.no_grad():
    honest = net[0](x).clone()
    net(x)
    pre = feats["fc"].mean()
SILENTLY_WRONG = not torch.equal(feats["fc"], honest)
