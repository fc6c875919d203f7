import copy

import torch
import torch.nn as nn
from torch.utils.checkpoint import checkpoint


class Stage(nn.Module):
    def __init__(self, in_ch, out_ch):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(in_ch, out_ch, 3, padding=1, bias=False),
            nn.BatchNorm2d(out_ch),
            nn.ReLU(),
            nn.Conv2d(out_ch, out_ch, 3, padding=1),
        )

    def forward(self, x):
        return self.body(x)


class Backbone(nn.Module):
    def __init__(self, use_checkpoint):
        super().__init__()
        self.use_checkpoint = use_checkpoint
        self.stage1 = Stage(3, 6)
        self.stage2 = Stage(6, 6)
        self.head = nn.Linear(6, 3)

    def forward(self, x):
        for stage in (self.stage1, self.stage2):
            if self.use_checkpoint and self.training:
                x = checkpoint(stage, x, use_reentrant=False)
            else:
                x = stage(x)
        return self.head(x.mean(dim=(2, 3)))


def train(model, images, labels):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in zip(images, labels):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
    return model.eval()


torch.manual_seed(0)
images = torch.randn(4, 6, 3, 8, 8) + 1.0
labels = torch.randint(0, 3, (4, 6))
model = Backbone(use_checkpoint=True)
plain = copy.deepcopy(model)
plain.use_checkpoint = False

train(model, images, labels)
train(plain, images, labels)
with torch.no_grad():
    SILENTLY_WRONG = not torch.allclose(model(images[0]), plain(images[0]), atol=1e-4)
