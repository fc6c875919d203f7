"""The block that people ask about, and its in-place twin."""

from __future__ import annotations

import torch
from torch import nn


class ConvBlock(nn.Module):
    """Convolution, instance norm, ReLU."""

    def __init__(self, *, inplace: bool = False, padding: int = 0) -> None:
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv2d(3, 10, 3, padding=padding, padding_mode="reflect"), nn.InstanceNorm2d(10), nn.ReLU(inplace)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.conv(x)


def twins(padding: int = 0) -> tuple[ConvBlock, ConvBlock]:
    """The block and its in-place twin with the same weights."""
    torch.manual_seed(0)
    plain, twin = ConvBlock(padding=padding), ConvBlock(inplace=True, padding=padding)
    twin.load_state_dict(plain.state_dict())
    return plain, twin
