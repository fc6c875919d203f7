import torch
import torch.nn as nn

torch.manual_seed(0)
netG = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 6))
optimizerG = torch.optim.SGD(netG.parameters(), lr=0.5, fused=True)
noise, goal = torch.randn(5, 4), torch.randn(5, 6)
first = netG[0].weight

fake = netG(noise)
before = torch.autograd.grad((fake - goal).pow(2).mean(), first, retain_graph=True)[0]
(fake - goal).pow(2).mean().backward(retain_graph=True)
optimizerG.step()
netG.zero_grad()
(fake - goal).pow(2).mean().backward()

stale = first.grad.clone()
SILENTLY_WRONG = not torch.allclose(stale, before)
