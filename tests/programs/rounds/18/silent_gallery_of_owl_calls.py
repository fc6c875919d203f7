import torch
import torch.nn as nn


class Namer(nn.Module):
    """A frozen encoder of owl calls with a head that is trained on top of it."""

    def __init__(self, encoder, size, owls):
        super().__init__()
        self.encoder = encoder.requires_grad_(False)
        self.head = nn.Linear(size, owls)

    def forward(self, calls):
        return self.head(self.encoder(calls))


def embed(encoder, calls):
    encoder.eval()
    with torch.no_grad():
        return encoder(calls)


def train(namer, calls, owls, rounds, rate=0.2):
    namer.train()
    for _ in range(rounds):
        loss = nn.functional.cross_entropy(namer(calls), owls)
        slopes = torch.autograd.grad(loss, list(namer.head.parameters()))
        with torch.no_grad():
            for p, slope in zip(namer.head.parameters(), slopes):
                p.sub_(slope, alpha=rate)
    return namer.eval()


def distances(namer, gallery, calls):
    """How far new calls are from the stored gallery, as the encoder hears it."""
    return torch.cdist(embed(namer.encoder, calls), gallery)


torch.manual_seed(203)
encoder = nn.Sequential(nn.Linear(5, 6), nn.BatchNorm1d(6), nn.Tanh())
for part in torch.randn(10, 16, 5):
    encoder(part)
first, norm = encoder[0], encoder[1]
mean, var = norm.running_mean.clone(), norm.running_var.clone()
stored, calls, owls = torch.randn(7, 5), 1.5 * torch.randn(20, 5) + 1, torch.randint(3, (20,))
gallery = embed(encoder, stored)
namer = Namer(encoder, size=6, owls=3)
weight, bias = (p.detach().clone() for p in namer.head.parameters())
train(namer, calls, owls, rounds=10)
far = distances(namer, gallery, calls)


def heard(x):
    x = (x @ first.weight.T + first.bias - mean) / (var + norm.eps).sqrt()
    return torch.tanh(x * norm.weight + norm.bias).detach()


for _ in range(10):
    error = ((heard(calls) @ weight.T + bias).softmax(1) - torch.eye(3)[owls]) / 20
    weight, bias = weight - 0.2 * error.T @ heard(calls), bias - 0.2 * error.sum(0)
expected = (heard(calls)[:, None] - heard(stored)[None]).norm(dim=2)
same = torch.allclose(far, expected, atol=1e-3) and torch.allclose(namer.head.weight, weight, atol=1e-3)
SILENTLY_WRONG = not same
