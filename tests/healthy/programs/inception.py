import torch
import torch.nn.functional as F
from torch import nn


class ConvUnit(nn.Module):
    def __init__(self, inputs, outputs, kernel=1):
        super().__init__()
        self.conv = nn.Conv2d(inputs, outputs, kernel, padding=kernel // 2, bias=False)
        self.bn = nn.BatchNorm2d(outputs, eps=0.001)

    def forward(self, x):
        x = self.conv(x)
        x = self.bn(x)
        return F.relu(x, inplace=True)


class Inception(nn.Module):
    def __init__(self, inputs):
        super().__init__()
        self.branch1 = ConvUnit(inputs, 4)
        self.branch2 = nn.Sequential(ConvUnit(inputs, 4), ConvUnit(4, 8, 3))
        self.branch3 = nn.Sequential(nn.MaxPool2d(3, stride=1, padding=1), ConvUnit(inputs, 4))

    def forward(self, x):
        outputs = [self.branch1(x), self.branch2(x), self.branch3(x)]
        return torch.cat(outputs, 1)


class Auxiliary(nn.Module):
    def __init__(self, inputs, classes):
        super().__init__()
        self.conv, self.fc = ConvUnit(inputs, 4), nn.Linear(4, classes)

    def forward(self, x):
        x = self.conv(x).mean((2, 3))
        return self.fc(F.dropout(x, 0.3, self.training, inplace=True))


class GoogLeNet(nn.Module):
    def __init__(self, classes=5):
        super().__init__()
        self.stem = nn.Sequential(ConvUnit(3, 8, 3), ConvUnit(8, 8))
        self.first, self.second = Inception(8), Inception(16)
        self.auxiliary, self.head = Auxiliary(16, classes), nn.Linear(16, classes)

    def forward(self, x):
        x = torch.cat([(x[:, channel : channel + 1] - 0.5) / 0.25 for channel in range(3)], 1)
        x = self.first(self.stem(x))
        extra = self.auxiliary(x) if self.training else None
        x = self.second(x).mean((2, 3))
        return self.head(x), extra


model = GoogLeNet()
optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3, momentum=0.9)
images, targets = torch.rand(4, 3, 8, 8), torch.randint(5, (4,))
losses = []
# %%
for _ in range(3):
    optimizer.zero_grad()
    logits, extra = model(images)
    loss = F.cross_entropy(logits, targets)
    loss += 0.3 * F.cross_entropy(extra, targets)
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
