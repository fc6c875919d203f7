import torch
from torch import nn

torch.manual_seed(0)


def make_training(model, base_lr, total):
    optimizer = torch.optim.SGD(model.parameters(), lr=torch.tensor(base_lr))
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 - step / total)
    return optimizer, scheduler


def train(model, data, base_lr=0.2, total=8):
    optimizer, scheduler = make_training(model, base_lr, total)
    log = {"loss": [], "lr": []}
    for step in range(total):
        x, y = data[step % len(data)]
        loss = nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        log["loss"].append(loss.item())
        log["lr"].append(optimizer.param_groups[0]["lr"])
        scheduler.step()
    return log


data = [(torch.randn(8, 3), torch.randn(8, 1)) for _ in range(3)]
log = train(nn.Linear(3, 1), data)
curve = torch.tensor([float(lr) for lr in log["lr"]])
expected = torch.tensor([0.2 * (1 - step / 8) for step in range(8)])
SILENTLY_WRONG = not torch.allclose(curve, expected, atol=1e-6)
