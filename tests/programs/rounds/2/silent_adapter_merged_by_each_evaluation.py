import torch
from torch import nn


class LoRALinear(nn.Linear):
    def __init__(self, in_features, out_features, rank=2, scale=2.0):
        super().__init__(in_features, out_features)
        self.weight.requires_grad_(False)
        self.lora_a = nn.Parameter(torch.randn(rank, in_features) * 0.5)
        self.lora_b = nn.Parameter(torch.randn(out_features, rank) * 0.5)
        self.scale = scale

    def delta(self):
        return self.scale * self.lora_b @ self.lora_a

    def train(self, mode=True):
        if not mode:
            self.weight.data += self.delta().data
        return super().train(mode)

    def forward(self, x):
        out = super().forward(x)
        return out + x @ self.delta().t() if self.training else out


@torch.no_grad()
def evaluate(model, x, y):
    model.eval()
    return nn.functional.mse_loss(model(x), y).item()


torch.manual_seed(0)
model = nn.Sequential(LoRALinear(4, 8), nn.Tanh(), nn.Linear(8, 1))
val, test = ((torch.randn(16, 4), torch.randn(16, 1)) for _ in range(2))

with torch.no_grad():
    expected = nn.functional.mse_loss(model(test[0]), test[1]).item()
val_loss = evaluate(model, *val)
test_loss = evaluate(model, *test)
SILENTLY_WRONG = abs(test_loss - expected) > 1e-4
