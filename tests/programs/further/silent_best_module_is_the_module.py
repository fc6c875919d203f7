import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Linear(2, 1)
opt = torch.optim.SGD(model.parameters(), lr=1.5)
x, y = torch.randn(8, 2), torch.randn(8, 1)
best_loss, best_model = float("inf"), None
for epoch in range(4):
    loss = (model(x) - y).square().mean()
    if loss.item() < best_loss:
        best_loss = loss.item()
        best_model = model
    opt.zero_grad()
    loss.backward()
    opt.step()
with torch.no_grad():
    final = (best_model(x) - y).square().mean().item()
SILENTLY_WRONG = abs(final - best_loss) > 1e-4
