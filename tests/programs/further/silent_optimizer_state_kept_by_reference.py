import copy
import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
x, y = torch.randn(8, 3), torch.randn(8, 1)


def step():
    opt.zero_grad()
    (net(x) - y).square().mean().backward()
    opt.step()


step()
saved = opt.state_dict()
honest = copy.deepcopy(saved)["state"][0]["momentum_buffer"]
step()
step()
opt.load_state_dict(saved)
restored = opt.state_dict()["state"][0]["momentum_buffer"]
SILENTLY_WRONG = not torch.equal(restored, honest)
