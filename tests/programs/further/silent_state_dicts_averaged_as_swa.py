import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Linear(3, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(12, 3), torch.randn(12, 1)
checkpoints, honest = [], []
for epoch in range(3):
    loss = (model(x) - y).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    checkpoints.append(model.state_dict())
    honest.append(model.weight.detach().clone())
average = {k: sum(c[k] for c in checkpoints) / 3 for k in checkpoints[0]}
SILENTLY_WRONG = not torch.allclose(average["weight"], sum(honest) / 3)
