import torch
import torch.nn as nn
from torch.optim.swa_utils import AveragedModel, update_bn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 5), nn.BatchNorm1d(5), nn.ReLU(inplace=True), nn.Linear(5, 1))
swa = AveragedModel(net)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
data = torch.randn(3, 8, 3)
for x in data:
    loss = (net(x) - x.sum(1, keepdim=True)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    swa.update_parameters(net)
update_bn(iter(data), swa)
swa.eval()
out = swa(data[0])
