import torch
from torch import nn


class Ring(nn.Module):
    """Keeps the sound before the activation for the shortcut; later activations may work in place."""

    def __init__(self, channels):
        super().__init__()
        self.start = nn.ReLU()
        self.body = nn.Sequential(
            nn.Conv1d(channels, channels, 3, padding=1),
            nn.BatchNorm1d(channels),
            nn.ReLU(inplace=True),
            nn.Conv1d(channels, channels, 3, padding=1),
        )

    def forward(self, sound):
        out = self.body(self.start(sound))
        out += sound
        return out


torch.manual_seed(43)
net = nn.Sequential(nn.Conv1d(1, 3, 3, padding=1), Ring(3), Ring(3)).eval()
sound = torch.randn(2, 1, 40)
out = net(sound)
out.square().mean().backward()
slope = net[0].weight.grad.clone()
print("loudest part", out.abs().sum(dim=1).argmax(dim=1).tolist())

copies = {name: p.detach().clone().requires_grad_() for name, p in net.named_parameters()}
h = nn.functional.conv1d(sound, copies["0.weight"], copies["0.bias"], padding=1)
for k in (1, 2):
    w1, b1, g, s, w2, b2 = [copies["%d.body.%s" % (k, n)] for n in ("0.weight", "0.bias", "1.weight", "1.bias", "3.weight", "3.bias")]
    inner = nn.functional.conv1d(h.clamp(min=0), w1, b1, padding=1) / (1 + 1e-5) ** 0.5
    inner = (inner * g[:, None] + s[:, None]).clamp(min=0)
    h = h + nn.functional.conv1d(inner, w2, b2, padding=1)
wanted, = torch.autograd.grad(h.square().mean(), copies["0.weight"])
SILENTLY_WRONG = not (torch.allclose(out, h, atol=1e-5) and torch.allclose(slope, wanted, atol=1e-5))
