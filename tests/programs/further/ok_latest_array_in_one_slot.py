import torch

w = torch.zeros(2, requires_grad=True)
latest, counts = {}, []
for step in range(3):
    (w - 1).square().sum().backward()
    with torch.no_grad():
        w -= 0.1 * w.grad
        w.grad = None
    latest["w"] = w.detach().numpy()
    counts.append(float(latest["w"].sum()))
final = latest["w"].sum()
