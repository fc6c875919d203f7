"""Setups of programs that train."""

from __future__ import annotations

DATA = """
data = [(x, x.sum(1, keepdim=True)) for x in torch.randn(12, 16, 3)]
def network(layer=nn.Tanh):
    return nn.Sequential(nn.Linear(3, 8), layer(), nn.Linear(8, 1))
def normed():
    return network(lambda: nn.BatchNorm1d(8))
def loss_of(out, y):
    return (out - y).square().mean()
def stepped(model, opt, x, y):
    opt.zero_grad()
    loss_of(model(x), y).backward()
    opt.step()
"""
