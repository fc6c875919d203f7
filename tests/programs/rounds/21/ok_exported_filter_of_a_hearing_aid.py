import torch
from torch import nn
from torch.nn.utils.parametrizations import weight_norm


class HearingFilter(nn.Module):
    def __init__(self, taps):
        super().__init__()
        self.filter = weight_norm(nn.Conv1d(1, 2, taps, bias=False))

    def forward(self, sound):
        return self.filter(sound[:, None])


def train(net, sound, wanted, steps, rate):
    optimizer = torch.optim.SGD(net.parameters(), lr=rate)
    for _ in range(steps):
        optimizer.zero_grad()
        (net(sound) - wanted).square().mean().backward()
        optimizer.step()


def export(net):
    return net.filter.weight.detach().squeeze(1).numpy().copy()


torch.manual_seed(22)
sound = torch.randn(6, 64)
bands = torch.tensor([[0.2, 0.6, 0.2], [-0.3, 0.8, -0.3]])
wanted = nn.functional.conv1d(sound[:, None], bands[:, None])
net = HearingFilter(taps=3)
train(net, sound, wanted, steps=20, rate=0.3)
net.filter.parametrizations.weight.original0.data.mul_(0.5)
taps = export(net)
print("taps", taps.round(3).tolist())

heard = []
for part in sound.tolist():
    for band in taps.tolist():
        heard.append([sum(w * part[i + k] for k, w in enumerate(band)) for i in range(62)])
with torch.no_grad():
    expected = net(sound).reshape(12, 62)
size, way = net.filter.parametrizations.weight.parameters()
by_hand = (size * way / way.norm(dim=(1, 2), keepdim=True)).detach().squeeze(1)
SILENTLY_WRONG = not (torch.allclose(torch.tensor(heard), expected, atol=1e-4)
                      and torch.allclose(torch.from_numpy(taps), by_hand, atol=1e-5))
