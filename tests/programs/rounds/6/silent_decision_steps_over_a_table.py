import torch
import torch.nn as nn


class DecisionStep(nn.Module):
    def __init__(self, shared, norm):
        super().__init__()
        self.shared, self.norm = shared, norm

    def forward(self, x):
        value, gate = self.norm(self.shared(x)).chunk(2, dim=1)
        return value * torch.sigmoid(gate)


class TableEncoder(nn.Module):
    def __init__(self, features, steps):
        super().__init__()
        shared = nn.Linear(features, 2 * features)
        norm = nn.BatchNorm1d(2 * features)
        self.steps = nn.ModuleList()
        for _ in range(steps):
            self.steps.append(DecisionStep(shared, norm))

    def forward(self, x):
        total = torch.zeros_like(x)
        for step in self.steps:
            x = step(x)
            total = total + x
        return total


torch.manual_seed(606)
encoder = TableEncoder(6, 3)
table = [3 + torch.randn(32, 6) for _ in range(40)]
with torch.no_grad():
    for rows in table:
        encoder(rows)
    encoder.eval()
    scores = encoder(table[0])

    weight, bias = encoder.steps[0].shared.weight, encoder.steps[0].shared.bias
    stats = [(torch.zeros(12), torch.ones(12)) for _ in range(3)]
    for turn, x in enumerate(table + table[:1]):
        expected = torch.zeros_like(x)
        for mean, var in stats:
            h = nn.functional.batch_norm(x @ weight.t() + bias, mean, var, training=turn < 40)
            x = h[:, :6] * torch.sigmoid(h[:, 6:])
            expected = expected + x
SILENTLY_WRONG = not torch.allclose(scores, expected, atol=1e-4)
