import copy

import torch
import torch.nn as nn
from torch.utils.checkpoint import checkpoint


class Stage(nn.Module):
    def __init__(self, in_ch, out_ch):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(in_ch, out_ch, 3, padding=1),
            nn.GroupNorm(2, out_ch),
            nn.ReLU(inplace=True),
            nn.Conv2d(out_ch, out_ch, 3, padding=1),
        )
        self.register_buffer("seen", torch.zeros(()))
        self.register_buffer("activity", torch.zeros(out_ch))

    def run(self, x, use_checkpoint):
        out = checkpoint(self.body, x, use_reentrant=False) if use_checkpoint else self.body(x)
        if self.training:
            with torch.no_grad():
                self.seen += 1
                self.activity.lerp_(out.mean(dim=(0, 2, 3)), 1 / float(self.seen))
        return out


class Backbone(nn.Module):
    def __init__(self, use_checkpoint):
        super().__init__()
        self.use_checkpoint = use_checkpoint
        self.stages = nn.ModuleList([Stage(3, 4), Stage(4, 4)])
        self.head = nn.Linear(4, 2)

    def forward(self, x):
        for stage in self.stages:
            x = stage.run(x, self.use_checkpoint)
        return self.head(x.mean(dim=(2, 3)))


def train(model, images, labels):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in zip(images, labels):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()


torch.manual_seed(0)
images, labels = torch.randn(4, 5, 3, 6, 6), torch.randint(0, 2, (4, 5))
model = Backbone(use_checkpoint=True)
plain = copy.deepcopy(model)
plain.use_checkpoint = False
train(model, images, labels)
train(plain, images, labels)
expected = plain.state_dict()
SILENTLY_WRONG = not all(torch.allclose(v, expected[k], atol=1e-5) for k, v in model.state_dict().items())
