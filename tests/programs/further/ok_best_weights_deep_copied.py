import copy

import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=1.5)
x, y = torch.randn(12, 3), torch.randn(12, 1)
best_loss, best = float("inf"), copy.deepcopy(model.state_dict())
for epoch in range(4):
    loss = (model(x) - y).pow(2).mean()
    if loss.item() < best_loss:
        best_loss = loss.item()
        best = copy.deepcopy(model.state_dict())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
model.load_state_dict(best)
with torch.no_grad():
    assert abs((model(x) - y).pow(2).mean().item() - best_loss) < 1e-6
