import numpy as np
import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Linear(4, 4)
x = torch.randn(3, 4)
attn = torch.softmax(net(x), -1)
loss = (attn * torch.arange(4.0)).sum()
honest = torch.autograd.grad(loss, net.weight, retain_graph=True)[0]
attn_map = np.asarray(attn.detach())
attn_map -= attn_map.min()
attn_map /= attn_map.max()
picture = (attn_map * 255).astype(np.uint8)
loss.backward()
SILENTLY_WRONG = not torch.allclose(net.weight.grad, honest)
