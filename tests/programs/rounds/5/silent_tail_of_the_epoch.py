import torch
import torch.nn as nn
import torch.nn.functional as F


def train(model, batches, epochs, accumulate):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(epochs):
        for i, (x, y) in enumerate(batches):
            loss = F.mse_loss(model(x), y) / accumulate
            loss.backward()
            if (i + 1) % accumulate == 0:
                optimizer.step()
                optimizer.zero_grad()
    return model


torch.manual_seed(10)
truth = torch.randn(5, 1)
inputs = [torch.randn(6, 5) for _ in range(7)]
batches = [(x, x @ truth + 0.1 * torch.randn(6, 1)) for x in inputs]

model = nn.Linear(5, 1)
weight = model.weight.detach().t().clone()
bias = model.bias.detach().clone()
train(model, batches, epochs=3, accumulate=4)

for epoch in range(3):
    for group in (batches[:4], batches[4:]):
        step_w, step_b = torch.zeros(5, 1), torch.zeros(1)
        for x, y in group:
            error = x @ weight + bias - y
            step_w += 2 * x.t() @ error / len(x) / 4
            step_b += 2 * error.mean() / 4
        weight, bias = weight - 0.1 * step_w, bias - 0.1 * step_b
SILENTLY_WRONG = not torch.allclose(model.weight.t(), weight, atol=1e-5)
