import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Linear(2, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(8, 2), torch.randn(8, 1)
for epoch in range(4):
    opt.zero_grad()
    (model(x) - y).square().mean().backward()
    opt.step()
best_model = model
target_model = best_model
with torch.no_grad():
    final = (best_model(x) - y).square().mean()
    attacked = target_model(x + 0.1)
