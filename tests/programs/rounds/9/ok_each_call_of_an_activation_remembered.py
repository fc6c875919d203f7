import torch
import torch.nn as nn


class GlazeNet(nn.Module):
    def __init__(self, oxides):
        super().__init__()
        self.mix = nn.Linear(oxides, 7)
        self.melt = nn.Linear(7, 7)
        self.gloss = nn.Linear(7, 2)
        self.squash = nn.Tanh()

    def forward(self, x):
        x = self.squash(self.mix(x))
        x = self.squash(self.melt(x))
        return self.squash(self.gloss(x))


class InfluenceOfOxides:
    def __init__(self, net):
        self.net, self.calls = net, []
        for module in net.children():
            module.register_forward_hook(self.remember)

    def remember(self, module, inputs, output):
        self.calls.append((module, output.detach()))

    @torch.no_grad()
    def __call__(self, recipes, quality):
        upstream = torch.zeros_like(self.net(recipes))
        upstream[:, quality] = 1.0
        while self.calls:
            module, output = self.calls.pop()
            if isinstance(module, nn.Linear):
                upstream = upstream @ module.weight
            else:
                upstream.mul_(1 - output.square())
        return upstream


torch.manual_seed(956)
net, recipes = GlazeNet(oxides=4), torch.randn(10, 4)
influence = InfluenceOfOxides(net)
found = torch.stack([influence(recipes, quality) for quality in range(2)])

expected = []
for quality in range(2):
    leaf = recipes.clone().requires_grad_()
    net(leaf)[:, quality].sum().backward()
    expected.append(leaf.grad)
SILENTLY_WRONG = not torch.allclose(found, torch.stack(expected), atol=1e-5)
