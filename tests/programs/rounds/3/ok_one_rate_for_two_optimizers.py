import torch
from torch import nn

torch.manual_seed(0)


def warmup(step, peak=0.1, length=4):
    return peak * min(1.0, (step + 1) / length)


def train(encoder, head, batches):
    # both optimizers follow this one rate
    rate = torch.tensor(0.0)
    optimizers = [torch.optim.SGD(part.parameters(), lr=rate) for part in (encoder, head)]
    log = []
    for step, (x, y) in enumerate(batches):
        rate.fill_(warmup(step))
        log.append(rate.item())
        loss = nn.functional.mse_loss(head(torch.tanh(encoder(x))), y)
        for optimizer in optimizers:
            optimizer.zero_grad()
        loss.backward()
        for optimizer in optimizers:
            optimizer.step()
    return log


batches = [(torch.randn(8, 3), torch.randn(8, 1)) for _ in range(7)]
encoder, head = nn.Linear(3, 4), nn.Linear(4, 1)
weights = [p.detach().clone().requires_grad_() for p in (*encoder.parameters(), *head.parameters())]
log = train(encoder, head, batches)

for step, (x, y) in enumerate(batches):
    hidden = torch.tanh(x @ weights[0].t() + weights[1])
    loss = nn.functional.mse_loss(hidden @ weights[2].t() + weights[3], y)
    grads = torch.autograd.grad(loss, weights)
    weights = [(w - warmup(step) * g).detach().requires_grad_() for w, g in zip(weights, grads)]
curve = torch.tensor([warmup(step) for step in range(7)])
SILENTLY_WRONG = not (
    torch.allclose(torch.tensor(log), curve) and torch.allclose(encoder.weight, weights[0], atol=1e-5)
)
