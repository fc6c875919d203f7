import torch
import torch.nn as nn

torch.manual_seed(0)
model, ema = nn.Linear(3, 1), nn.Linear(3, 1)
ema.load_state_dict(model.state_dict(), assign=True)
shadow = model.weight.detach().clone()
opt = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(8, 3), torch.randn(8, 1)
for step in range(3):
    opt.zero_grad()
    (model(x) - y).square().mean().backward()
    opt.step()
with torch.no_grad():
    before_average = ema(x)
    honest = x @ shadow.T + ema.bias
SILENTLY_WRONG = not torch.allclose(before_average, honest, atol=1e-4)
