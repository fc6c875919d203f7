"""What the pictures of real models show: boxes, frames' names, width and height, bytes.

    python benchmarks/pictures.py [NAME ...] [--svg FOLDER]
    python benchmarks/pictures.py --page            writes docs/measured/pictures.md

Each model is made outside the watch; one training step of it is watched. Models of torchvision and transformers have
random weights and are skipped where the package is not installed. For the true picture such a package has to lie in
one of Python's own library folders; elsewhere its code counts as the user's.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import linecache
import re
import sys
import textwrap
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path

import torch

import inplace_magic
from inplace_magic.language import use_language
from inplace_magic.render.graph.dot import dot_of
from inplace_magic.render.graph.layout import to_svg
from inplace_magic.render.page.html import detail_of
from inplace_magic.render.reading import Reading
from inplace_magic.report import Report

STEP = """
loss = net(x).sum()
loss.backward()
"""
IMAGE = "x = torch.randn(2, 3, 64, 64)\n"


@dataclass(frozen=True)
class Model:
    """How a model is made, and the lines that are watched."""

    made: str
    step: str = STEP
    needs: str = ""
    """The package that it comes from, where that is not torch."""


UNET = """
class Double(nn.Sequential):
    def __init__(self, into, out):
        super().__init__(
            nn.Conv2d(into, out, 3, padding=1), nn.BatchNorm2d(out), nn.ReLU(inplace=True),
            nn.Conv2d(out, out, 3, padding=1), nn.BatchNorm2d(out), nn.ReLU(inplace=True),
        )

class UNet(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.down1, self.down2, self.bottom = Double(3, width), Double(width, 2 * width), Double(2 * width, 4 * width)
        self.up2, self.up1 = (nn.ConvTranspose2d(k * width, k * width // 2, 2, 2) for k in (4, 2))
        self.join2, self.join1 = Double(4 * width, 2 * width), Double(2 * width, width)
        self.head = nn.Conv2d(width, 1, 1)
        self.pool = nn.MaxPool2d(2)

    def forward(self, x):
        first = self.down1(x)
        second = self.down2(self.pool(first))
        x = self.bottom(self.pool(second))
        x = self.join2(torch.cat([second, self.up2(x)], dim=1))
        x = self.join1(torch.cat([first, self.up1(x)], dim=1))
        return self.head(x)

net = UNet()
"""

GPT2 = """
from transformers import GPT2Config, GPT2LMHeadModel
net = GPT2LMHeadModel(GPT2Config(n_layer=4, n_embd=32, n_head=4, vocab_size=100, n_positions=32, use_cache=False))
ids = torch.randint(0, 100, (2, 16))
"""
BERT = """
from transformers import BertConfig, BertForSequenceClassification
net = BertForSequenceClassification(
    BertConfig(num_hidden_layers=4, hidden_size=32, num_attention_heads=4, intermediate_size=64, vocab_size=100)
)
ids = torch.randint(0, 100, (2, 16))
"""
TRANSFORMER = """
class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(50, 32)
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(32, 4, 64, batch_first=True), 4)
        self.head = nn.Linear(32, 5)

    def forward(self, ids):
        return self.head(self.encoder(self.embed(ids)).mean(1))

net = Classifier()
x = torch.randint(0, 50, (2, 16))
"""
VIT = "net = torchvision.models.VisionTransformer(32, 8, 4, 4, 32, 64)\nx = torch.randn(2, 3, 32, 32)\n"
OF_TORCHVISION = "import torchvision\n" + IMAGE + "net = torchvision.models."
MODELS = {
    "resnet18": Model(OF_TORCHVISION + "resnet18()", needs="torchvision"),
    "resnet50": Model(OF_TORCHVISION + "resnet50()", needs="torchvision"),
    "mobilenet_v2": Model(OF_TORCHVISION + "mobilenet_v2()", needs="torchvision"),
    "vit": Model("import torchvision\n" + VIT, needs="torchvision"),
    "nn.TransformerEncoder": Model(TRANSFORMER),
    "unet": Model(UNET + IMAGE),
    "gpt2": Model(GPT2, "loss = net(input_ids=ids, labels=ids).loss\nloss.backward()", needs="transformers"),
    "bert": Model(BERT, "loss = net(input_ids=ids, labels=ids[:, 0] % 2).loss\nloss.backward()", needs="transformers"),
}

PAGE = Path(__file__).parent.parent / "docs" / "measured" / "pictures.md"
HEAD = """# Pictures of real models

Written by `python benchmarks/pictures.py --page` with torch {torch}, and not by hand. Each row is one training step
(GPT-2 and BERT with their own loss, the others `net(x).sum().backward()`) of a model made outside the watch, with
random weights, small inputs and four blocks if their number is free. Width and height are pixels; bytes are those
of `report.to_svg()`.

- *Overview*: boxes, pixels and bytes of the picture that a notebook shows first if nothing is wrong. Its boxes are
  modules with their class, and the operations between modules; shapes stand on the arrows.
- *Detailed*: `report.to_svg()`, which a notebook shows if nothing is wrong and a line of your own wrote in place.
  If something is wrong, it shows the overview with the boxes of the finding open. Of equal layers in a row one is
  drawn, and one box represents the others: `net.transformer.h[1]…[3]: GPT2Block × 3`.
- A picture much taller than a screen is cut into columns.

| model | calls | overview | detailed | frames in *detailed* | folded in *detailed* |
|---|---|---|---|---|---|
"""
BESIDE = """
## Beside torchview, torchvista and torchviz

Each model's overview beside the pictures of [torchview](https://github.com/mert-kurttutan/torchview) 0.2.7,
[torchvista](https://github.com/sachinhosmani/torchvista) 0.2.13 and [torchviz](https://github.com/szagoruyko/pytorchviz)
0.0.3, fitted into frames of one size, by `python benchmarks/pictures_beside.py`. torchview and torchvista are opened to
the deepest legible level; their folding and zooming does not show in a picture. Our own judgement:

- *What is this model?* torchview and torchvista answer in one column, with shapes and classes, and read faster, since
  each box says less. Our box has the code's path (`net.layer1`, where the others say `Sequential` four times) and its
  parameters, layers of one list are one box, and letters are larger, because a tall picture stands in columns. In
  return, arrows lead from the foot of one column to the head of the next, and paths are long. torchviz draws autograd's
  nodes and no modules.
- *Where was this tensor overwritten?* The last picture is the U-Net with `second.mul_(0.5)`, which backward refuses.
  torchview and torchvista show `mul_` like any other operation; torchviz shows nothing of it. None marks the fault, the
  line, or the saved tensor. Ours marks both places and their lines, with the boxes of the finding open.
- A module without parameters has no path here (`ReLU`, not `net.relu`) and is named by the class that defines its
  forward: `nn.ReLU6` reads as `Hardtanh`.
- We watch a step, so the picture also has the loss and a `sum`.
- torchview raises a `KeyError` with the cache of GPT-2's default configuration, so all draw the model without it.
"""
"""What a person sees; the pictures follow it."""


def watched(model: Model) -> Report:
    """The report of one step."""
    torch.manual_seed(0)
    names = {"torch": torch, "nn": torch.nn, "watch": inplace_magic.watch, "__name__": "__main__"}
    step = textwrap.indent(model.step.strip(), "    ")
    for file, text in (("model.py", model.made), ("step.py", f"with watch() as w:\n{step}\n")):
        linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
        with contextlib.suppress(RuntimeError):  # a step that backward refuses has a report too
            exec(compile(text, file, "exec"), names)
    report: Report = names["w"].report  # type: ignore[attr-defined]  # the program's own variable
    return report


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    name: str
    calls: int
    boxes: int
    frames: tuple[str, ...]
    folds: tuple[str, ...]
    width: int
    height: int
    nbytes: int


def overview_of(report: Report) -> str:
    """The picture that a notebook shows first, as SVG."""
    with use_language(report.language, report.framework):
        return to_svg(dot_of(Reading(report), limit=detail_of(report)))


def row_of(name: str, report: Report, svg: str) -> Row:
    """What a picture shows, read off the picture."""
    root = ET.fromstring(svg)
    groups = [(element.get("class", "").split(), element) for element in root.iter() if element.tag.endswith("}g")]
    texts = [
        (kinds, ["".join(part.itertext()) for part in each if part.tag.endswith("}text")]) for kinds, each in groups
    ]
    return Row(
        name,
        len(Reading(report).report.trace.calls),
        sum(kinds[0] == "n" for kinds, _ in texts),
        tuple(said[0] for kinds, said in texts if kinds[0] == "k"),
        tuple(re.sub("^⊞ ", "", said[0]) for kinds, said in texts if "fold" in kinds),
        int(root.get("width", "0")),
        int(root.get("height", "0")),
        len(svg.encode()),
    )


def as_text(row: Row) -> str:
    """A row for a terminal."""
    lines = [f"{row.name}: {row.calls} calls, {row.boxes} boxes, {row.width} × {row.height}, {row.nbytes:,} bytes"]
    lines += [f"    frame  {name}" for name in row.frames]
    lines += [f"    folded {name}" for name in row.folds]
    return "\n".join(lines)


def as_markdown(overview: Row, row: Row) -> str:
    """A row of the table in docs/measured/pictures.md."""
    named = [", ".join(f"`{name}`" for name in names) or "none" for names in (row.frames, row.folds)]
    sizes = [f"{each.boxes}, {each.width} × {each.height}, {each.nbytes:,}" for each in (overview, row)]
    return f"| {' | '.join((row.name, str(row.calls), *sizes, *named))} |"


def main() -> None:
    """Prints a row for each model."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", choices=[*MODELS, []], help="models; all when none is named")
    parser.add_argument("--svg", type=Path, help="a folder for the pictures")
    parser.add_argument("--page", action="store_true", help="write the page; needs every model")
    chosen = parser.parse_args()
    rows = []
    for name, model in MODELS.items():
        if chosen.names and name not in chosen.names:
            continue
        if model.needs and importlib.util.find_spec(model.needs) is None:
            print(f"{name} is skipped: {model.needs} is not installed.", file=sys.stderr)
            continue
        report = watched(model)
        svg = report.to_svg()
        row = row_of(name, report, svg)
        rows.append((row_of(name, report, overview_of(report)), row))
        print(as_text(row))
        if chosen.svg is not None:
            chosen.svg.mkdir(parents=True, exist_ok=True)
            (chosen.svg / f"{name}.svg").write_text(svg, encoding="utf-8")
    if chosen.page and len(rows) == len(MODELS):
        shown = "".join(
            f"\n![{name}, drawn by four packages](beside/{name}.png)\n"
            for name in (*MODELS, "overwritten")
            if (PAGE.parent / "beside" / f"{name}.png").exists()
        )
        head = HEAD.format(torch=torch.__version__.partition("+")[0])
        PAGE.write_text(head + "\n".join(as_markdown(*row) for row in rows) + "\n" + BESIDE + shown, encoding="utf-8")


if __name__ == "__main__":
    main()
