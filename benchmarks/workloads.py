"""The programs that are timed: whole training steps, written out, random weights, CPU unless told otherwise."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn


def tiny_layers(device: str = "cpu") -> Callable[[], float]:
    """50 × (Linear(16) + in-place ReLU), batch 8, backward and SGD: almost nothing but overhead."""
    torch.manual_seed(0)
    layers: list[nn.Module] = []
    for _ in range(50):
        layers += [nn.Linear(16, 16), nn.ReLU(inplace=True)]
    model = nn.Sequential(*layers).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    x = torch.randn(8, 16, device=device)

    def step() -> float:
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()
        return float(loss.detach())

    return step


class BasicBlock(nn.Module):
    """ResNet's two-convolution block with in-place ReLUs and ``out += identity``."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.relu = nn.ReLU(inplace=True)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.downsample: nn.Module | None = None
        if stride != 1 or inputs != outputs:
            self.downsample = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        identity = x if self.downsample is None else self.downsample(x)
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        out += identity
        return self.relu(out)


class ResNet18(nn.Module):
    """The ImageNet ResNet-18."""

    def __init__(self, classes: int = 1000) -> None:
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)
        )
        blocks: list[nn.Module] = []
        width = 64
        for outputs, stride in ((64, 1), (128, 2), (256, 2), (512, 2)):
            blocks += [BasicBlock(width, outputs, stride), BasicBlock(outputs, outputs, 1)]
            width = outputs
        self.blocks = nn.Sequential(*blocks)
        self.head = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, classes))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.blocks(self.stem(x)))


def resnet18(device: str = "cpu", batch: int = 2, size: int = 224) -> Callable[[], float]:
    """A ResNet-18 training step: batch of 2 at 224 × 224, cross-entropy, SGD with momentum."""
    torch.manual_seed(0)
    model = ResNet18().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    x, y = torch.randn(batch, 3, size, size, device=device), torch.arange(batch, device=device)

    def step() -> float:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return float(loss.detach())

    return step


WORKLOADS: dict[str, Callable[[], Callable[[], float]]] = {
    "50 x (Linear(16) + in-place ReLU)": tiny_layers,
    "ResNet-18, batch 2 at 224": resnet18,
}
