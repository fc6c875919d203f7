import torch
import torch.nn as nn

torch.manual_seed(0)
shared = nn.Linear(3, 3)
layers = [shared, shared, nn.Linear(3, 1)]
weights = [layer.weight for layer in layers]
opt = torch.optim.SGD({p for layer in layers for p in layer.parameters()}, lr=0.1)
x = torch.randn(4, 3)
for step in range(3):
    h = x
    for layer in layers:
        h = torch.tanh(layer(h))
    loss = h.square().mean() + 0.01 * sum(w.square().sum() for w in weights)
    opt.zero_grad()
    loss.backward()
    opt.step()
