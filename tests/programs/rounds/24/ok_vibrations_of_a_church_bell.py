import io
import math

import torch
from torch import nn


class CosineTransform(nn.Module):
    def __init__(self, length, kept):
        super().__init__()
        n = torch.arange(length) + 0.5
        k = torch.arange(kept).unsqueeze(1)
        self.register_buffer("cosines", torch.cos(math.pi / length * k * n), persistent=False)
        self.register_buffer("mean", torch.zeros(kept))

    def forward(self, signal):
        out = signal @ self.cosines.T
        if self.training:
            self.mean.lerp_(out.mean(dim=0), 0.1)
        return out - self.mean


class BellModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.transform = CosineTransform(32, 8)
        self.crack = nn.Linear(8, 1)

    def forward(self, signal):
        return self.crack(self.transform(signal)).squeeze(1)


def save(model):
    file = io.BytesIO()
    torch.save(model.state_dict(), file)
    file.seek(0)
    return file


torch.manual_seed(43)
signal = torch.randn(40, 32)
cracked = (signal[:, 0] > 0).float()
model = BellModel()
optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
for part, answer in zip(signal.split(10), cracked.split(10)):
    optimizer.zero_grad()
    nn.functional.binary_cross_entropy_with_logits(model(part), answer).backward()
    optimizer.step()
model.eval()
again = BellModel()
again.load_state_dict(torch.load(save(model)))
again.eval()
print("saved", list(model.state_dict()))
SILENTLY_WRONG = not torch.allclose(again(signal), model(signal), atol=1e-6)
