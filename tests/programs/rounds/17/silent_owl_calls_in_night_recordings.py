import torch
import torch.nn as nn
import torch.nn.functional as F


class HardFrames:
    """Loss of all calls and of the hardest empty frames beside them."""

    def __init__(self, ratio):
        self.ratio = ratio

    def __call__(self, scores, labels):
        clips, frames, kinds = scores.shape
        calls = labels != 0
        wanted = self.ratio * calls.sum(1, keepdim=True)
        each = F.cross_entropy(scores.reshape(-1, kinds), labels.reshape(-1), reduction="none")
        each = each.view(clips, frames)
        others = each
        others[calls] = 0.0
        others, _ = others.sort(dim=1, descending=True)
        hard = torch.arange(frames).expand(clips, -1) < wanted
        return (each[calls].sum() + others[hard].sum()) / calls.sum()


class Detector(nn.Module):
    def __init__(self, bands, kinds):
        super().__init__()
        self.listen = nn.Conv1d(bands, kinds, kernel_size=3, padding=1, dtype=torch.float64)

    def forward(self, spectra):
        return self.listen(spectra).transpose(1, 2)


def slopes(net, loss, spectra, labels):
    net.zero_grad()
    value = loss(net(spectra), labels)
    value.backward()
    return value.item(), net.listen.weight.grad


torch.manual_seed(58)
net = Detector(bands=5, kinds=3)
spectra = torch.randn(4, 5, 20, dtype=torch.float64)
labels = torch.zeros(4, 20, dtype=torch.long)
for clip, frame, kind in [(0, 3, 1), (0, 4, 1), (1, 10, 2), (2, 7, 1), (2, 8, 2), (3, 15, 2)]:
    labels[clip, frame] = kind
value, slope = slopes(net, HardFrames(ratio=2), spectra, labels)

wanted = 0.0
for scores, row in zip(net(spectra), labels):
    logp = scores.log_softmax(1)
    calls = [-logp[f, k] for f, k in enumerate(row.tolist()) if k]
    empty = sorted((-logp[f, 0] for f, k in enumerate(row.tolist()) if not k), key=torch.Tensor.item, reverse=True)
    wanted = wanted + sum(calls) + sum(empty[:2 * len(calls)])
wanted = wanted / 6
right, = torch.autograd.grad(wanted, net.listen.weight)
SILENTLY_WRONG = not (abs(value - wanted.item()) < 1e-9 and torch.allclose(slope, right))
