"""The pictures of real models beside those of torchview, torchvista and torchviz, in frames of one size.

    python benchmarks/pictures_beside.py [NAME ...]    writes docs/measured/beside/NAME.png

First the overview that a notebook shows of one watched training step, then what each of the others makes of the same
model; ``overwritten`` is the U-Net with a write that backward refuses. Needs a Chromium, and
``pip install .[bench,dev] torchvision pygraphviz torchview torchvista torchviz``, of which pygraphviz' Graphviz knows
torchview's tables; a model whose package is missing is skipped. Where a package fails, its frame says with what.
"""

from __future__ import annotations

import argparse
import contextlib
import html
import importlib.util
import io
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pygraphviz
import torch
from pictures import IMAGE, MODELS, UNET, Model, overview_of, watched
from PIL import Image
from playwright.sync_api import Browser, sync_playwright
from torchview import draw_graph
from torchvista import trace_model
from torchviz import make_dot

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "measured" / "beside"
DEPTH = {"nn.TransformerEncoder": 2, "mobilenet_v2": 2, "gpt2": 2, "vit": 3, "bert": 3}
"""How deep torchview looks, and torchvista opens: 1, or as deep as their pictures say more and are still legible."""
FRAME = 420, 560
"""Pixels."""
COLOURS = 48
"""Of a picture, which is a third as large so."""
SHOWN = {
    **MODELS,
    "overwritten": Model(
        UNET.replace("        x = self.join2", "        second.mul_(0.5)\n        x = self.join2") + IMAGE
    ),
}
PAGE = """<meta charset="utf-8"><style>body{{margin:0;display:flex;gap:8px;font:13px Helvetica,Arial,sans-serif;
background:#fff;width:max-content}}
figure{{margin:0;width:{width}px}}figcaption{{padding:4px 0;height:18px}}
div{{width:{width}px;height:{height}px;border:1px solid #c8c8c8;box-sizing:border-box;display:flex;
justify-content:center}}
img{{max-width:100%;max-height:100%;object-fit:contain}}</style>{figures}"""
FIGURE = "<figure><figcaption>{title}</figcaption><div>{shown}</div></figure>"


def made(model: Model) -> dict[str, Any]:
    """The variables of a model's program before its step."""
    names: dict[str, Any] = {"torch": torch, "nn": torch.nn}
    torch.manual_seed(0)
    exec(model.made, names)
    return names


def laid_out(dot: str) -> str:
    """A graph of Graphviz as SVG."""
    return bytes(pygraphviz.AGraph(string=dot).draw(format="svg", prog="dot")).decode()


def of_ours(model: Model, folder: Path, _name: str) -> str:
    """The picture that a notebook shows."""
    return as_image(overview_of(watched(model)), folder / "ours.svg")


def of_torchview(model: Model, folder: Path, name: str) -> str:
    """The modules down to a depth."""
    names = made(model)
    given = {"input_ids": names["ids"]} if "ids" in names else names["x"]
    depth = DEPTH.get(name, 1)
    drawn = draw_graph(names["net"], input_data=given, depth=depth, expand_nested=True).visual_graph
    return as_image(laid_out(str(drawn.source)), folder / "torchview.svg")


def of_torchvista(model: Model, folder: Path, name: str) -> str:
    """Its page, as it opens."""
    names = made(model)
    depth = DEPTH.get(name, 1) - 1
    with contextlib.redirect_stdout(io.StringIO()):
        given = names.get("ids", names.get("x"))
        trace_model(
            names["net"],
            given,
            collapse_modules_after_depth=depth,
            height=FRAME[1] - 20,
            export_path=folder / "vista.html",
        )
    return '<img src="vista.png">'


def of_torchviz(model: Model, folder: Path, _name: str) -> str:
    """Autograd's graph with the names of parameters."""
    names = made(model)
    out = names["net"](names.get("ids", names.get("x")))
    out = out if isinstance(out, torch.Tensor) else out[0]
    source = make_dot(out.sum(), params=dict(names["net"].named_parameters())).source
    return as_image(laid_out(source), folder / "torchviz.svg")


PACKAGES: dict[str, Callable[[Model, Path, str], str]] = {
    "inplace_magic": of_ours,
    "torchview": of_torchview,
    "torchvista": of_torchvista,
    "torchviz": of_torchviz,
}
"""What draws, and how its picture is put into a page."""


def as_image(svg: str, file: Path) -> str:
    """A picture in a file of its own, as a page shows it."""
    file.write_text(svg, encoding="utf-8")
    return f'<img src="{file.name}">'


def picture_of(name: str, model: Model, browser: Browser) -> Image.Image:
    """All pictures of one model side by side."""
    with tempfile.TemporaryDirectory() as work:
        folder, figures = Path(work), ""
        for package, draw in PACKAGES.items():
            try:
                shown = draw(model, folder, name)
            except Exception as error:  # what it cannot draw is a result too
                shown = f"<p>{package} raises {html.escape(f'{type(error).__name__}: {error}')}</p>"
            figures += FIGURE.format(title=f"{name}: {package}", shown=shown)
        (folder / "page.html").write_text(
            PAGE.format(figures=figures, width=FRAME[0], height=FRAME[1]), encoding="utf-8"
        )
        page = browser.new_page(viewport={"width": FRAME[0], "height": FRAME[1]})
        if (folder / "vista.html").exists():
            page.goto((folder / "vista.html").as_uri())
            page.wait_for_function("document.querySelectorAll('svg path').length > 5", timeout=240_000)
            page.wait_for_timeout(2_000)  # it moves its picture into the middle
            page.screenshot(path=folder / "vista.png", timeout=240_000)
        page.set_viewport_size({"width": len(PACKAGES) * (FRAME[0] + 8), "height": FRAME[1] + 60})
        page.goto((folder / "page.html").as_uri())
        seen = Image.open(io.BytesIO(page.locator("body").screenshot(timeout=240_000)))
        page.close()
        return seen.convert("RGB").quantize(COLOURS)


def main() -> None:
    """Writes a picture for each model."""
    sys.path.insert(0, str(ROOT / "tests"))
    from browser.front_ends import INSTALL, launch

    sys.path.remove(str(ROOT / "tests"))  # names of ours there are names of others in some packages
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", choices=[*SHOWN, []], help="models; all when none is named")
    parser.add_argument("--to", type=Path, default=FOLDER, help="the folder")
    chosen = parser.parse_args()
    chosen.to.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = launch(playwright)
        if browser is None:
            raise SystemExit(INSTALL)
        for name, model in SHOWN.items():
            if chosen.names and name not in chosen.names:
                continue
            if model.needs and importlib.util.find_spec(model.needs) is None:
                print(f"{name} is skipped: {model.needs} is not installed.", file=sys.stderr)
                continue
            file = chosen.to / f"{name}.png"
            picture_of(name, model, browser).save(file, optimize=True)
            print(name, f"{file.stat().st_size:,} bytes", flush=True)
        browser.close()


if __name__ == "__main__":
    main()
