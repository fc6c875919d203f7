import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint


class Block(nn.Module):
    def __init__(self, inputs, outputs, last=False):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(inputs, outputs, 3, padding=1), nn.BatchNorm2d(outputs)
        self.conv2, self.bn2 = nn.Conv2d(outputs, outputs, 3, padding=1), nn.BatchNorm2d(outputs)
        self.downsample = nn.Conv2d(inputs, outputs, 1) if inputs != outputs else None
        self.relu = nn.ReLU(inplace=True)
        self.last = last

    def forward(self, x):
        shortcut = x
        x = self.relu(self.bn1(self.conv1(x)))
        x = self.bn2(self.conv2(x))
        if self.downsample is not None:
            shortcut = self.downsample(shortcut)
        x += shortcut
        if not self.last:
            x = self.relu(x)
        return x


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(inplace=True))
        self.stage1 = nn.Sequential(Block(8, 8), Block(8, 8))
        self.stage2 = nn.ModuleList([Block(8, 16), Block(16, 16), Block(16, 16, last=True)])
        self.head = nn.Linear(16, 5)

    def forward(self, x):
        x = self.stem(x)
        x = checkpoint(self.stage1, x, use_reentrant=False)
        features = []
        for block in self.stage2:
            x = block(x)
            features.append(x.mean((2, 3)))
        return self.head(torch.stack(features).mean(0))


model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, foreach=True)
images, targets = torch.rand(4, 3, 8, 8), torch.randint(5, (4,))
losses = []
# %%
for _ in range(3):
    loss = F.cross_entropy(model(images), targets)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    losses.append(loss.item())
