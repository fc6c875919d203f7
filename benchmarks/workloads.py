"""The programs that are timed: whole training steps, written out, random weights, CPU."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from loops import LOOPS, Loop
from torch import nn


@dataclass(frozen=True)
class Workload:
    """A model, one batch, and what a training step does with them."""

    title: str
    model: nn.Module
    x: torch.Tensor
    loss: Callable[[torch.Tensor], torch.Tensor]
    optimizer: torch.optim.Optimizer

    def step(self, after_forward: Callable[[torch.Tensor], Any] | None = None) -> None:
        """One training step.

        Args:
            after_forward: a tool that looks at the loss and its graph before backward frees it.
        """
        self.optimizer.zero_grad()
        loss = self.loss(self.model(self.x))
        if after_forward is not None:
            after_forward(loss)
        loss.backward()
        self.optimizer.step()


def tiny_layers() -> Workload:
    """50 × (Linear(16) + in-place ReLU), batch 8, backward and SGD: almost nothing but overhead."""
    torch.manual_seed(0)
    layers: list[nn.Module] = []
    for _ in range(50):
        layers += [nn.Linear(16, 16), nn.ReLU(inplace=True)]
    model = nn.Sequential(*layers)
    return Workload(
        "50 × (Linear(16) + in-place ReLU), batch 8",
        model,
        torch.randn(8, 16),
        lambda y: y.square().mean(),
        torch.optim.SGD(model.parameters(), lr=0.01),
    )


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


def resnet18() -> Workload:
    """A ResNet-18 training step: batch of 2 at 224 × 224, cross-entropy, SGD with momentum."""
    torch.manual_seed(0)
    model = ResNet18()
    return Workload(
        "ResNet-18, batch 2 at 224 × 224",
        model,
        torch.randn(2, 3, 224, 224),
        lambda y: nn.functional.cross_entropy(y, torch.arange(2)),
        torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9),
    )


LAYERS, HEADS, WIDTH, LENGTH, VOCABULARY = 6, 6, 384, 128, 1024


class Logits(nn.Module):
    """A language model of the `transformers` library as a function of its token ids alone."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.model(ids, use_cache=False).logits


class Block(nn.Module):
    """A transformer's block: attention and two linear layers, each added to what came in."""

    def __init__(self) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        heads = [part.unflatten(-1, (HEADS, -1)).transpose(1, 2) for part in self.qkv(self.norm1(x)).chunk(3, -1)]
        seen = nn.functional.scaled_dot_product_attention(*heads, is_causal=True)
        x = x + self.out(seen.transpose(1, 2).flatten(-2))
        return x + self.down(nn.functional.gelu(self.up(self.norm2(x))))


class PlainGPT(nn.Module):
    """The same shape in plain torch, for where `transformers` is not installed."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(LENGTH, WIDTH)
        self.blocks = nn.Sequential(*(Block() for _ in range(LAYERS)))
        self.head = nn.Sequential(nn.LayerNorm(WIDTH), nn.Linear(WIDTH, VOCABULARY, bias=False))

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.head(self.blocks(self.words(ids) + self.places.weight[: ids.shape[1]]))


def gpt() -> Workload:
    """A training step of a 6-layer GPT-2, width 384, 6 heads, 128 tokens; AdamW."""
    torch.manual_seed(0)
    shape = f"{LAYERS} layers, {HEADS} heads, width {WIDTH}, {LENGTH} tokens"
    try:
        from transformers import GPT2Config, GPT2LMHeadModel
    except ImportError:
        title, model = f"GPT in plain torch (transformers cannot be imported), {shape}", PlainGPT()
    else:
        config = GPT2Config(
            n_layer=LAYERS, n_head=HEADS, n_embd=WIDTH, n_positions=LENGTH, vocab_size=VOCABULARY,
            bos_token_id=0, eos_token_id=0, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
        )  # fmt: skip
        title, model = f"GPT-2 of transformers, {shape}", Logits(GPT2LMHeadModel(config))
    ids = torch.randint(0, VOCABULARY, (1, LENGTH))
    return Workload(
        title,
        model,
        ids,
        lambda y: nn.functional.cross_entropy(y[0, :-1], ids[0, 1:]),
        torch.optim.AdamW(model.parameters(), lr=1e-4),
    )


WORKLOADS: dict[str, Callable[[], Workload | Loop]] = {
    "tiny": tiny_layers,
    "resnet": resnet18,
    "gpt": gpt,
    **LOOPS,
}
