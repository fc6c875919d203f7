import torch
from torch import nn


class LoraLinear(nn.Module):
    """Linear layer with an adapter that is added to the weight in eval mode."""

    def __init__(self, inputs, outputs, rank=2, scale=2.0):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(outputs, inputs) * 0.2, requires_grad=False)
        self.lora_A = nn.Parameter(torch.randn(rank, inputs) * 0.3)
        self.lora_B = nn.Parameter(torch.zeros(outputs, rank))
        self.scale = scale
        self.merged = False

    def train(self, mode=True):
        super().train(mode)
        delta = self.scale * self.lora_B.data @ self.lora_A.data
        if mode and self.merged:
            self.weight.data -= delta
            self.merged = False
        elif not mode and not self.merged:
            self.weight.data += delta
            self.merged = True
        return self

    def forward(self, x):
        out = x @ self.weight.T
        if not self.merged:
            out = out + self.scale * (x @ self.lora_A.T) @ self.lora_B.T
        return out


def train(model, batches, epochs, lr=0.1):
    optimizer = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=lr)
    checks = []
    for epoch in range(epochs):
        model.train()
        for x, labels in batches:
            loss = nn.functional.cross_entropy(model(x), labels)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
        model.eval()
        with torch.no_grad():
            checks.append(sum(nn.functional.cross_entropy(model(x), y).item() for x, y in batches))
        model.eval()
    return checks


torch.manual_seed(15)
model = LoraLinear(8, 4)
base = model.weight.detach().clone()
batches = [(torch.randn(6, 8), torch.randint(4, (6,))) for _ in range(3)]
checks = train(model, batches, epochs=4)
print("losses", checks)

full = base + 2.0 * model.lora_B.detach() @ model.lora_A.detach()
last = sum(nn.functional.cross_entropy(x @ full.T, y).item() for x, y in batches)
SILENTLY_WRONG = not torch.allclose(model.weight, full, atol=1e-5) or abs(checks[-1] - last) > 1e-4 or checks[-1] > checks[0]
