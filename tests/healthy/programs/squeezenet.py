import torch
from torch import nn


class Fire(nn.Module):
    def __init__(self, inputs, squeezed, expanded):
        super().__init__()
        self.squeeze = nn.Conv2d(inputs, squeezed, 1)
        self.squeeze_activation = nn.ReLU(inplace=True)
        self.expand1x1 = nn.Conv2d(squeezed, expanded, 1)
        self.expand1x1_activation = nn.ReLU(inplace=True)
        self.expand3x3 = nn.Conv2d(squeezed, expanded, 3, padding=1)
        self.expand3x3_activation = nn.ReLU(inplace=True)

    def forward(self, x):
        x = self.squeeze_activation(self.squeeze(x))
        return torch.cat(
            [self.expand1x1_activation(self.expand1x1(x)), self.expand3x3_activation(self.expand3x3(x))], 1
        )


class SqueezeNet(nn.Module):
    def __init__(self, classes=5):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 8, 3, 2), nn.ReLU(inplace=True), nn.MaxPool2d(2), Fire(8, 4, 8), Fire(16, 4, 8)
        )
        self.classifier = nn.Sequential(nn.Dropout(0.5), nn.Conv2d(16, classes, 1), nn.ReLU(inplace=True))
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_uniform_(module.weight)
                nn.init.constant_(module.bias, 0)

    def forward(self, x):
        x = self.features(x)
        x = self.classifier(x)
        return torch.flatten(x.mean((2, 3)), 1)


model = SqueezeNet()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, fused=True)
images, targets = torch.rand(4, 3, 16, 16), torch.randint(5, (4,))
losses = []
# %%
for _ in range(3):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(images), targets)
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
