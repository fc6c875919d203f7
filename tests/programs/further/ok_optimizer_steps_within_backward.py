import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 1))
optimizers = {p: torch.optim.SGD([p], lr=0.01) for p in net.parameters()}


def step_now(p):
    optimizers[p].step()
    optimizers[p].zero_grad()


for p in net.parameters():
    p.register_post_accumulate_grad_hook(step_now)
for x in torch.randn(4, 6, 4):
    loss = net(x).square().mean()
    loss.backward()
