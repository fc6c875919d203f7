import torch
import torch.nn as nn


def quiet_head(width, classes):
    head = nn.Linear(width, classes)
    nn.init.zeros_(head.weight)
    nn.init.zeros_(head.bias)
    return head


class MultiScaleHeads(nn.Module):
    def __init__(self, width, classes, scales):
        super().__init__()
        self.heads = nn.ModuleList([quiet_head(width, classes)] * scales)

    def forward(self, levels):
        return [head(level) for head, level in zip(self.heads, levels)]


def train(heads, levels, masks, steps, rate):
    optimizer = torch.optim.SGD(heads.parameters(), lr=rate)
    criterion = nn.BCEWithLogitsLoss()
    for _ in range(steps):
        optimizer.zero_grad()
        loss = sum(criterion(out, mask) for out, mask in zip(heads(levels), masks))
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        return [criterion(out, mask).item() for out, mask in zip(heads(levels), masks)]


torch.manual_seed(40)
levels = [torch.randn(24, 5, dtype=torch.float64) for _ in range(4)]
masks = [(x @ torch.randn(5, 2, dtype=torch.float64) > 0).double() for x in levels]
heads = MultiScaleHeads(5, 2, 4).double()
losses = train(heads, levels, masks, steps=40, rate=0.5)

expected = []
for x, mask in zip(levels, masks):
    weight, bias = torch.zeros(5, 2, dtype=torch.float64), torch.zeros(2, dtype=torch.float64)
    for _ in range(40):
        slope = (torch.sigmoid(x @ weight + bias) - mask) / mask.numel()
        weight, bias = weight - 0.5 * x.T @ slope, bias - 0.5 * slope.sum(dim=0)
    share = torch.sigmoid(x @ weight + bias)
    expected.append(-(mask * share.log() + (1 - mask) * (1 - share).log()).mean().item())
SILENTLY_WRONG = max(abs(a - b) for a, b in zip(losses, expected)) > 1e-8
