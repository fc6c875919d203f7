import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn


class Tide(nn.Module):
    """Height of the tide from a few harmonics."""

    def __init__(self, speeds):
        super().__init__()
        self.register_buffer("speeds", speeds)
        self.waves = nn.Linear(2 * len(speeds), 1)

    def forward(self, hours):
        angles = hours[:, None] * self.speeds
        return self.waves(torch.cat([angles.sin(), angles.cos()], dim=1)).squeeze(1)


def fit(net, hours, heights, epochs, rate, start):
    optimizer = torch.optim.SGD(net.parameters(), lr=rate)
    plain = AveragedModel(net)
    smooth = AveragedModel(net, multi_avg_fn=get_ema_multi_avg_fn(0.8))
    path = []
    for epoch in range(epochs):
        for h, z in zip(hours.split(20), heights.split(20)):
            optimizer.zero_grad()
            (net(h) - z).square().mean().backward()
            optimizer.step()
        smooth.update_parameters(net)
        if epoch >= start:
            plain.update_parameters(net)
        path.append(net.waves.weight[0].tolist())
    return plain, smooth, path


torch.manual_seed(28)
speeds = torch.tensor([0.506, 0.524, 0.262])
hours = 200 * torch.rand(100)
heights = 1.2 * (hours * speeds[0]).sin() + 0.4 * (hours * speeds[1]).cos() + 0.1 * torch.randn(100)
net = Tide(speeds)
plain, smooth, path = fit(net, hours, heights, epochs=12, rate=0.1, start=6)
print("last", [round(w, 3) for w in path[-1]])

path = torch.tensor(path)
expected = path[0]
for row in path[1:]:
    expected = 0.8 * expected + 0.2 * row
SILENTLY_WRONG = not (
    torch.allclose(plain.module.waves.weight[0], path[6:].mean(dim=0), atol=1e-5)
    and torch.allclose(smooth.module.waves.weight[0], expected, atol=1e-5)
    and torch.allclose(net.waves.weight[0], path[-1]))
