import torch
from torch import nn

torch.manual_seed(0)


class FrameMask:
    def __init__(self, start, width):
        self.start, self.width = start, width
        self.seen = torch.tensor(0)

    def __call__(self, module, inputs):
        (frames,) = inputs
        frames = frames.clone()
        frames[..., self.start : self.start + self.width] = 0.0
        self.seen += len(frames)
        return (frames,)


class SpeechBlock(nn.Module):
    def __init__(self, channels=4):
        super().__init__()
        self.stem = nn.Conv1d(2, channels, 1)
        self.context = nn.Conv1d(channels, channels, 5, padding=2)

    def forward(self, x):
        features = self.stem(x)
        context = self.context(features)
        context *= torch.sigmoid(features)
        return features + context


block = SpeechBlock()
mask = FrameMask(start=3, width=4)
handle = block.context.register_forward_pre_hook(mask)
x = torch.randn(2, 2, 12)
out = block(x)
out.square().sum().backward()
handle.remove()

features = block.stem(x)
keep = torch.ones(12)
keep[3:7] = 0
expected = features + block.context(features * keep) * torch.sigmoid(features)
SILENTLY_WRONG = not (torch.allclose(out, expected, atol=1e-5) and mask.seen.item() == 2)
