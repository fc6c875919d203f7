import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=2.0)
x = torch.randn(12, 3)
y = x.sum(1, keepdim=True)
best_loss, best = float("inf"), None

for epoch in range(4):
    loss = (model(x) - y).pow(2).mean()
    if loss.item() < best_loss:
        best_loss = loss.item()
        best = model.state_dict()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

model.load_state_dict(best)
final = (model(x) - y).pow(2).mean().item()
SILENTLY_WRONG = abs(final - best_loss) > 1e-4
