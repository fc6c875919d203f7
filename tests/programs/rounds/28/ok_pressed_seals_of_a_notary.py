import torch
from torch import nn

softplus = nn.functional.softplus


def fit(press, reader, batches, lr):
    optimizers = [torch.optim.SGD(part.parameters(), lr=lr) for part in (press, reader)]
    for true, noise in batches:
        for which, optimizer in enumerate(optimizers):
            if which == 0:
                loss = softplus(-reader(press(noise))).mean()
            else:
                loss = softplus(-reader(true)).mean() + softplus(reader(press(noise).detach())).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


torch.manual_seed(47)
batches = [(torch.randn(10, 2) + 1, torch.randn(10, 2)) for _ in range(15)]
press, reader = nn.Linear(2, 2, bias=False), nn.Linear(2, 1, bias=False)
p, r = press.weight.detach().clone(), reader.weight.detach()[0].clone()
fit(press, reader, batches, lr=0.1)
print("reader", reader.weight.tolist())

for true, noise in batches:
    s = torch.sigmoid(-(noise @ p.T @ r))
    p = p + 0.1 * torch.outer(r, s @ noise) / 10
    made = noise @ p.T
    r = r + 0.1 * (torch.sigmoid(-(true @ r)) @ true - torch.sigmoid(made @ r) @ made) / 10
SILENTLY_WRONG = not torch.allclose(reader.weight[0], r, atol=1e-4)
