import torch
from torch import nn


class MapNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(5)
        self.legend = nn.Linear(5, 3)

    def train(self, mode=True):
        super().train(mode)
        self.norm.eval()
        return self

    def forward(self, patch):
        return self.legend(self.norm(patch))


def pretrained(model, mean, var):
    with torch.no_grad():
        model.norm.running_mean.copy_(mean)
        model.norm.running_var.copy_(var)
    for p in model.norm.parameters():
        p.requires_grad_(False)
    return model


def finetune(model, patches, kinds, lr):
    optimizer = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=lr)
    model.train()
    for patch, kind in zip(patches.split(2), kinds.split(2)):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(patch), kind).backward()
        optimizer.step()


torch.manual_seed(46)
mean, var = torch.randn(5), 0.5 + torch.rand(5)
model = pretrained(MapNet(), mean, var)
w, b = model.legend.weight.detach().clone(), model.legend.bias.detach().clone()
patches, kinds = torch.randn(40, 5) * 2 + 1, torch.arange(40) % 3
finetune(model, patches, kinds, lr=0.1)
print("statistics", model.norm.running_mean.tolist())

for patch, kind in zip(patches.split(2), kinds.split(2)):
    x = (patch - mean) / (var + 1e-5).sqrt()
    slope = ((x @ w.T + b).softmax(dim=1) - nn.functional.one_hot(kind, 3)) / 2
    w, b = w - 0.1 * slope.T @ x, b - 0.1 * slope.sum(dim=0)
kept = torch.equal(model.norm.running_mean, mean)
SILENTLY_WRONG = not (kept and torch.allclose(model.legend.weight, w, atol=1e-4))
