import torch
from torch import nn


class LoRALinear(nn.Linear):
    def __init__(self, in_features, out_features, rank=2, scale=2.0):
        super().__init__(in_features, out_features)
        self.weight.requires_grad_(False)
        self.lora_a = nn.Parameter(torch.randn(rank, in_features) * 0.1)
        self.lora_b = nn.Parameter(torch.randn(out_features, rank) * 0.1)
        self.scale = scale
        self.merged = False

    def delta(self):
        return self.scale * self.lora_b @ self.lora_a

    def train(self, mode=True):
        if mode == self.merged:
            self.weight.data += self.delta().data * (-1 if mode else 1)
            self.merged = not mode
        return super().train(mode)

    def forward(self, x):
        out = super().forward(x)
        return out if self.merged else out + x @ self.delta().t()


@torch.no_grad()
def evaluate(model, x, y):
    model.eval()
    return nn.functional.mse_loss(model(x), y).item()


torch.manual_seed(0)
model = nn.Sequential(LoRALinear(4, 8), nn.Tanh(), nn.Linear(8, 1))
frozen = model[0].weight.detach().clone()
optimizer = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=0.1)
train, val = ((torch.randn(16, 4), torch.randn(16, 1)) for _ in range(2))
for epoch in range(3):
    model.train()
    optimizer.zero_grad()
    nn.functional.mse_loss(model(train[0]), train[1]).backward()
    optimizer.step()
    first, second = evaluate(model, *val), evaluate(model, *val)

weight = frozen + 2.0 * model[0].lora_b.detach() @ model[0].lora_a.detach()
hidden = torch.tanh(val[0] @ weight.t() + model[0].bias.detach())
expected = nn.functional.mse_loss(model[2](hidden), val[1]).item()
SILENTLY_WRONG = abs(first - expected) > 1e-5 or abs(second - expected) > 1e-5
