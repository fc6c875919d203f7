import torch

torch.manual_seed(0)
x = torch.linspace(-1, 1, 10)
y = torch.sin(2 * x)
w = torch.zeros(4, requires_grad=True)
optimizer = torch.optim.LBFGS([w], lr=0.5, max_iter=4)


def closure():
    optimizer.zero_grad()
    powers = torch.stack([x**k for k in range(4)])
    loss = (w @ powers - y).pow(2).mean()
    loss.backward()
    return loss


for _ in range(2):
    loss = optimizer.step(closure)
