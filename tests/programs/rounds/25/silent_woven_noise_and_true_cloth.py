import copy

import torch
from torch import nn
from torch.nn.functional import binary_cross_entropy_with_logits as bce


class ClothGAN:
    def __init__(self, threads, rate):
        self.weaver = nn.Sequential(nn.Linear(3, 20), nn.ReLU(), nn.Linear(20, threads))
        self.inspector = nn.Sequential(nn.Linear(threads, 20), nn.ReLU(), nn.Linear(20, 1))
        self.weaver_steps = torch.optim.SGD(self.weaver.parameters(), lr=rate)
        self.inspector_steps = torch.optim.SGD(self.inspector.parameters(), lr=rate)

    def step(self, cloth, noise):
        ones, zeros = torch.ones(len(cloth), 1), torch.zeros(len(cloth), 1)

        woven = self.weaver(noise)
        error_true = bce(self.inspector(cloth), ones)
        error_true.backward()
        error_woven = bce(self.inspector(woven.detach()), zeros)
        error_woven.backward()
        self.inspector_steps.step()

        self.weaver.zero_grad()
        error_weaver = bce(self.inspector(woven), ones)
        error_weaver.backward()
        self.weaver_steps.step()
        return (error_true + error_woven).item(), error_weaver.item()


torch.manual_seed(23)
gan = ClothGAN(threads=10, rate=0.1)
weaver, inspector = copy.deepcopy(gan.weaver), copy.deepcopy(gan.inspector)
grid = torch.arange(10) % 2
deliveries = [(grid + 0.2 * torch.randn(16, 10), torch.randn(16, 3)) for _ in range(25)]
for cloth, noise in deliveries:
    inspector_error, weaver_error = gan.step(cloth, noise)
print("inspector", round(inspector_error, 4), "weaver", round(weaver_error, 4))


def descend(player, error):
    own = list(player.parameters())
    moved = [p.detach() - 0.1 * s for p, s in zip(own, torch.autograd.grad(error, own))]
    nn.utils.vector_to_parameters(nn.utils.parameters_to_vector(moved), own)


for cloth, noise in deliveries:
    ones, zeros = torch.ones(16, 1), torch.zeros(16, 1)
    descend(inspector, bce(inspector(cloth), ones) + bce(inspector(weaver(noise).detach()), zeros))
    descend(weaver, bce(inspector(weaver(noise)), ones))
probe = deliveries[0][0]
SILENTLY_WRONG = not torch.allclose(gan.inspector(probe), inspector(probe), atol=1e-3)
