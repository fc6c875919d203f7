"""What a watch costs and changes on a CUDA device, with models of torchvision, timm and transformers.

    python benchmarks/on_gpu_models.py [--json FILE] [--seconds 2] [--only resnet50 gpt2]

Each model trains two steps from the same seed, twice unwatched and once watched at each level. Weights and losses
must be the same bit for bit where those of the two unwatched runs are, and no finding may be worse than info. Then
a step is timed, the variants in turn; ratios are of medians. Sizes are those that people train, so the device is
busy; `tiny` is the other end, a step that waits for launches alone. A missing library is skipped with a word.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # before CUDA starts: deterministic matrix products

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

import torch
from peers import EmptyFunctionMode
from torch import nn
from torch.nn import functional as F

import inplace_magic

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
ALARMS = ("error", "silent", "warning")
Step = Callable[[], torch.Tensor]


def images(model: nn.Module, batch: int, side: int = 224, classes: int = 1000) -> tuple[nn.Module, Step]:
    model = model.to(DEVICE).train()
    x, y = torch.randn(batch, 3, side, side, device=DEVICE), torch.randint(classes, (batch,), device=DEVICE)
    return model, lambda: F.cross_entropy(model(x), y)


def resnet50() -> tuple[nn.Module, Step]:
    from torchvision.models import resnet50

    return images(resnet50(), 64)


def vit() -> tuple[nn.Module, Step]:
    import timm

    return images(timm.create_model("vit_base_patch16_224", pretrained=False), 32)


def efficientnet() -> tuple[nn.Module, Step]:
    import timm

    return images(timm.create_model("efficientnet_b0", pretrained=False), 64)  # SiLU in place throughout


def gpt2() -> tuple[nn.Module, Step]:
    from transformers import GPT2Config, GPT2LMHeadModel

    model = GPT2LMHeadModel(GPT2Config()).to(DEVICE).train()
    tokens = torch.randint(50257, (8, 512), device=DEVICE)
    return model, lambda: model(tokens, labels=tokens).loss


def bert_in_half() -> tuple[nn.Module, Step]:
    from transformers import BertConfig, BertForSequenceClassification

    model = BertForSequenceClassification(BertConfig()).to(DEVICE).train()
    tokens, labels = torch.randint(30000, (32, 128), device=DEVICE), torch.randint(2, (32,), device=DEVICE)

    def loss() -> torch.Tensor:
        with torch.autocast(DEVICE, dtype=torch.bfloat16):
            result: torch.Tensor = model(tokens, labels=labels).loss
        return result

    return model, loss


def tiny() -> tuple[nn.Module, Step]:
    model = nn.Sequential(*(layer for _ in range(20) for layer in (nn.Linear(16, 16), nn.ReLU(inplace=True)))).to(
        DEVICE
    )
    x = torch.randn(8, 16, device=DEVICE)
    return model, lambda: model(x).square().mean()


MODELS: dict[str, tuple[str, Callable[[], tuple[nn.Module, Step]]]] = {
    "resnet50": ("torchvision ResNet-50, 64 × 3 × 224 × 224", resnet50),
    "efficientnet": ("timm EfficientNet-B0, 64 × 3 × 224 × 224", efficientnet),
    "vit": ("timm ViT-B/16, 32 × 3 × 224 × 224", vit),
    "gpt2": ("transformers GPT-2 (124M), 8 × 512 tokens", gpt2),
    "bert": ("transformers BERT-base under bfloat16 autocast, 32 × 128 tokens", bert_in_half),
    "tiny": ("20 layers of 16 × 16, batch 8", tiny),
}


def trainer(name: str) -> tuple[nn.Module, Step]:
    torch.manual_seed(0)
    model, loss_of = MODELS[name][1]()
    optimizer = torch.optim.AdamW(model.parameters(), 1e-4)

    def step() -> torch.Tensor:
        optimizer.zero_grad()
        loss = loss_of()
        loss.backward()
        optimizer.step()
        return loss.detach()

    return model, step


def finish() -> None:
    if DEVICE == "cuda":
        torch.cuda.synchronize()


def trained(name: str, level: str | None) -> tuple[list[torch.Tensor], Any]:
    """Weights and losses after two steps, and the report where they were watched."""
    model, step = trainer(name)
    with inplace_magic.watch(level=level) if level else nullcontext() as watch:
        losses = [step() for _ in range(2)]
    return [*(value.detach().cpu() for value in model.state_dict().values()), *(loss.cpu() for loss in losses)], (
        watch.report if level else None
    )


def harm(name: str) -> dict[str, Any]:
    torch.use_deterministic_algorithms(True, warn_only=True)
    torch.backends.cuda.enable_mem_efficient_sdp(False)  # its backward is not deterministic
    torch.backends.cuda.enable_flash_sdp(False)
    try:
        plain, again = trained(name, None)[0], trained(name, None)[0]
        row: dict[str, Any] = {"repeatable": same(plain, again)}
        for level in ("writes", "calls", "ops"):
            values, report = trained(name, level)
            begin = time.perf_counter()
            findings = [hazard.code for hazard in report.hazards if hazard.severity in ALARMS]
            row[level] = {
                "same": same(plain, values),
                "findings": findings,
                "faults": len(report.faults),
                "calls": len(report.calls),
                "report_s": round(time.perf_counter() - begin, 2),
            }
        return row
    finally:
        torch.use_deterministic_algorithms(False)


def same(one: list[torch.Tensor], other: list[torch.Tensor]) -> bool:
    return len(one) == len(other) and all(torch.equal(a, b) for a, b in zip(one, other, strict=True))


def cost(name: str, seconds: float) -> dict[str, float]:
    """Milliseconds of a plain step, and the other variants as ratios to it."""
    _model, step = trainer(name)
    variants: dict[str, Callable[[], Any]] = {
        "plain": nullcontext,
        "empty mode": EmptyFunctionMode,
        **{level: lambda level=level: inplace_magic.watch(level=level) for level in ("writes", "calls", "ops")},
    }
    times: dict[str, list[float]] = {variant: [] for variant in variants}
    for turn in range(12):
        for variant, mode in variants.items():
            if sum(times[variant]) > seconds:
                continue
            with mode():
                step()
                finish()
                begin = time.perf_counter()
                step()
                finish()
                if turn:
                    times[variant].append(time.perf_counter() - begin)
    plain = statistics.median(times["plain"])
    return {"plain_ms": round(plain * 1e3, 2)} | {
        variant: round(statistics.median(had) / plain, 2) for variant, had in times.items() if variant != "plain"
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--only", nargs="*", default=list(MODELS))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    card = torch.cuda.get_device_name() if DEVICE == "cuda" else "CPU"
    print(f"{card}, torch {torch.__version__}", flush=True)
    rows: dict[str, Any] = {}
    for name in options.only:
        try:
            rows[name] = {"title": MODELS[name][0], "cost": cost(name, options.seconds), "harm": harm(name)}
        except ImportError as missing:
            rows[name] = {"skipped": str(missing)}
        except Exception as error:  # one model that fails shall not take the others' figures along
            rows[name] = {"failed": f"{type(error).__name__}: {error}"[:300]}
        print(name, json.dumps(rows[name]), flush=True)
        if options.json:
            options.json.write_text(json.dumps({"device": card, "torch": torch.__version__, "models": rows}, indent=1))


if __name__ == "__main__":
    main()
