import torch
from torch import nn


class LoRALinear(nn.Module):
    """A frozen layer with a small correction of low rank beside it."""

    def __init__(self, base, rank):
        super().__init__()
        self.base = base.requires_grad_(False)
        self.down = nn.Parameter(0.3 * torch.randn(rank, base.in_features, dtype=torch.float64))
        self.up = nn.Parameter(torch.zeros(base.out_features, rank, dtype=torch.float64))

    def forward(self, x):
        return self.base(x) + x @ self.down.T @ self.up.T


class Trainer:
    def __init__(self, model, lr):
        self.model = model
        params = [p for p in model.parameters() if p.requires_grad]
        self.optimizer = torch.optim.SGD(params, lr=lr)
        self.losses = []

    def train_step(self, batch):
        rain, level = batch
        loss = nn.functional.mse_loss(self.model(rain), level)
        loss.backward()
        self.optimizer.step()
        self.losses.append(loss.item())

    def train(self, loader, epochs):
        self.model.train()
        for epoch in range(epochs):
            for batch in loader:
                self.train_step(batch)
            print("epoch", epoch, "error", self.losses[-1])


torch.manual_seed(16)
rain = torch.randn(60, 5, dtype=torch.float64)
base = nn.Linear(5, 3).double()
level = rain @ (base.weight + 0.2 * torch.randn(3, 5, dtype=torch.float64)).T.detach() + base.bias.detach()
model = LoRALinear(base, rank=2)
down, up = model.down.detach().clone(), model.up.detach().clone()
loader = list(zip(rain.split(15), level.split(15)))
trainer = Trainer(model, lr=0.05)
trainer.train(loader, epochs=4)

expected = []
for _ in range(4):
    for x, y in loader:
        down, up = down.detach().requires_grad_(), up.detach().requires_grad_()
        miss = ((x @ base.weight.T + base.bias + x @ (up @ down).T - y) ** 2).mean()
        expected.append(miss.item())
        slope_down, slope_up = torch.autograd.grad(miss, (down, up))
        down, up = down - 0.05 * slope_down, up - 0.05 * slope_up
SILENTLY_WRONG = not torch.allclose(torch.tensor(trainer.losses), torch.tensor(expected), atol=1e-6)
