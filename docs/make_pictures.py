"""Draws the pictures of docs/in-detail.md: ``python docs/make_pictures.py``.

Writes ``training-loop.svg`` and ``resnet18-step.svg`` into ``docs/images``, each the graph of a watched program below.
"""

from __future__ import annotations

import linecache
import sys
from pathlib import Path

import torch

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs" / "images"
PROGRAMS = {
    "training-loop": """from torch import nn
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(inplace=True), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
inputs, targets = torch.randn(32, 8), torch.randn(32, 1)
with inplace_magic.watch() as watched:
    for step in range(500):
        optimizer.zero_grad()
        loss = (model(inputs) - targets).pow(2).mean()
        loss.backward()
        optimizer.step()""",
    "resnet18-step": """from asked.resnet import ResNet18
model = ResNet18()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
images, labels = torch.randn(2, 3, 32, 32), torch.tensor([3, 8])
with inplace_magic.watch() as watched:
    loss = torch.nn.functional.cross_entropy(model(images), labels)
    loss.backward()
    optimizer.step()""",
}


def picture(name: str) -> str:
    """The graph of the program, as SVG."""
    import inplace_magic

    program, file = PROGRAMS[name], f"{name.replace('-', '_')}.py"
    linecache.cache[file] = (len(program), None, program.splitlines(keepends=True), file)
    names = {"torch": torch, "inplace_magic": inplace_magic, "__name__": "__main__"}
    torch.manual_seed(0)
    exec(compile(program, file, "exec"), names)
    svg: str = names["watched"].report.to_svg()  # type: ignore[attr-defined]  # the program's variable
    return svg


def main() -> None:
    """Writes both."""
    sys.path.insert(0, str(ROOT / "tests"))  # asked.resnet, the network of the tests
    for name in PROGRAMS:
        (IMAGES / f"{name}.svg").write_text(picture(name) + "\n", encoding="utf-8")
        print(f"docs/images/{name}.svg")


if __name__ == "__main__":
    main()
