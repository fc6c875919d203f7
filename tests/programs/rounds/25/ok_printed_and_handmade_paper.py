import copy

import torch
from torch import nn
from torch.nn.functional import binary_cross_entropy_with_logits as bce


class Mill:
    def __init__(self, fibres, rate):
        self.maker = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, fibres))
        self.buyer = nn.Sequential(nn.Linear(fibres, 16), nn.ReLU(), nn.Linear(16, 1))
        self.rate = rate

    def descend(self, player):
        with torch.no_grad():
            for weight in player.parameters():
                weight.sub_(weight.grad, alpha=self.rate)

    def step(self, sheets, noise):
        self.buyer.zero_grad()
        made = self.maker(noise)
        bce(self.buyer(sheets), torch.ones(len(sheets), 1)).backward()
        bce(self.buyer(made.detach()), torch.zeros(len(noise), 1)).backward()
        self.descend(self.buyer)

        self.maker.zero_grad()
        error = bce(self.buyer(made), torch.ones(len(noise), 1))
        error.backward()
        self.descend(self.maker)
        return error.item()


torch.manual_seed(26)
mill = Mill(fibres=8, rate=0.1)
maker, buyer = copy.deepcopy(mill.maker), copy.deepcopy(mill.buyer)
deliveries = [(torch.rand(12, 8).round() + 0.1 * torch.randn(12, 8), torch.randn(12, 3)) for _ in range(30)]
for sheets, noise in deliveries:
    error = mill.step(sheets, noise)
print("maker", round(error, 4))


def descend(player, error):
    own = list(player.parameters())
    moved = [p.detach() - 0.1 * s for p, s in zip(own, torch.autograd.grad(error, own))]
    nn.utils.vector_to_parameters(nn.utils.parameters_to_vector(moved), own)


ones, zeros = torch.ones(12, 1), torch.zeros(12, 1)
for sheets, noise in deliveries:
    descend(buyer, bce(buyer(sheets), ones) + bce(buyer(maker(noise).detach()), zeros))
    descend(maker, bce(buyer(maker(noise)), ones))
SILENTLY_WRONG = not torch.allclose(mill.buyer(sheets), buyer(sheets), atol=1e-3)
