import torch
import torch.nn as nn


class CropClassifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(5, 8), nn.BatchNorm1d(8), nn.ReLU(inplace=True))
        self.head = nn.Linear(8, 2)

    def train(self, mode=True):
        super().train(mode)
        self.trunk.eval()
        return self

    def forward(self, x):
        return self.head(self.trunk(x))


torch.manual_seed(636)
model = CropClassifier()
norm = model.trunk[1]
norm.running_mean.uniform_(-1, 1)
norm.running_var.uniform_(0.5, 2)
model.trunk.requires_grad_(False)
w, b = model.head.weight.detach().clone(), model.head.bias.detach().clone()
mean, var = norm.running_mean.clone(), norm.running_var.clone()
optimizer = torch.optim.SGD(model.head.parameters(), lr=0.2)
fields = [(2 + torch.randn(16, 5), torch.randint(0, 2, (16,))) for _ in range(15)]
model.train()
for x, y in fields:
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()

first = model.trunk[0]
for x, y in fields:
    h = ((x @ first.weight.t() + first.bias - mean) / (var + norm.eps).sqrt()).clamp(min=0)
    error = (torch.softmax(h @ w.t() + b, dim=1) - nn.functional.one_hot(y, 2)) / 16
    w, b = w - 0.2 * error.t() @ h, b - 0.2 * error.sum(dim=0)
SILENTLY_WRONG = not (torch.equal(norm.running_mean, mean) and torch.allclose(model.head.weight, w, atol=1e-4))
