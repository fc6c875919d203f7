import torch

torch.manual_seed(0)
x = torch.linspace(-1, 1, 20).unsqueeze(1)
y = 3 * x + 0.5
w = torch.empty(1, 1, requires_grad=True)
b = torch.zeros(1, requires_grad=True)
with torch.no_grad():
    w.normal_(0, 0.1)
    b[0] = 1.0

running = 0.0
for _ in range(4):
    loss = (x @ w + b - y).pow(2).mean()
    loss.backward()
    running += loss.item()
    with torch.no_grad():
        w -= 0.1 * w.grad
        b -= 0.1 * b.grad
        w.grad.zero_()
        b.grad.zero_()
