"""The pictures of real models beside those of torchview, as a person sees them: both fitted into frames of one size.

    python benchmarks/pictures_beside.py [NAME ...]    writes docs/measured/beside/NAME.png

Left the picture of one watched training step, right torchview's of the same model's forward. Needs a Chromium,
`pip install .[bench,dev] torchvision pygraphviz`, of which the last one's Graphviz knows torchview's tables; a model
whose package is missing is skipped. Where torchview fails, its frame says with what.
"""

from __future__ import annotations

import argparse
import html
import importlib.util
import sys
from pathlib import Path
from typing import Any

import pygraphviz
import torch
from pictures import MODELS, Model, watched
from playwright.sync_api import sync_playwright
from torchview import draw_graph

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "measured" / "beside"
DEPTH = {"vit": 3, "bert": 3}
"""How deep torchview looks, where its picture says more than at depth 2 and still is no chain of hundreds of boxes."""
FRAME = 620, 640
"""Pixels."""
PAGE = """<style>body{{margin:0;display:flex;gap:8px;font:13px Helvetica,Arial,sans-serif;background:#fff;
width:max-content}}
figure{{margin:0;width:{width}px}}figcaption{{padding:4px 0;height:18px}}
div{{width:{width}px;height:{height}px;border:1px solid #c8c8c8;box-sizing:border-box;display:flex;
justify-content:center}}
img{{max-width:100%;max-height:100%;object-fit:contain}}</style>
<figure><figcaption>{name}: inplace_magic</figcaption><div><img src="ours.svg"></div></figure>
<figure><figcaption>{name}: {theirs}</figcaption><div>{shown}</div></figure>"""


def of_torchview(model: Model, depth: int) -> str:
    """torchview's picture as SVG.

    Raises:
        Exception: whatever torchview raises on the model.
    """
    names: dict[str, Any] = {"torch": torch, "nn": torch.nn}
    torch.manual_seed(0)
    exec(model.made, names)
    given = {"input_ids": names["ids"]} if "ids" in names else names["x"]
    drawn = draw_graph(names["net"], input_data=given, depth=depth, expand_nested=True).visual_graph
    graph = pygraphviz.AGraph(string=str(drawn.source))
    return bytes(graph.draw(format="svg", prog="dot")).decode()


def main() -> None:
    """Writes a picture for each model."""
    sys.path.insert(0, str(ROOT / "tests"))
    from browser.front_ends import INSTALL, launch

    sys.path.remove(str(ROOT / "tests"))  # names of ours there are names of others in some packages
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", choices=[*MODELS, []], help="models; all when none is named")
    parser.add_argument("--to", type=Path, default=FOLDER, help="the folder")
    chosen = parser.parse_args()
    chosen.to.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = launch(playwright)
        if browser is None:
            raise SystemExit(INSTALL)
        page = browser.new_page(viewport={"width": 2 * FRAME[0] + 40, "height": FRAME[1] + 60})
        for name, model in MODELS.items():
            if (chosen.names and name not in chosen.names) or (
                model.needs and not importlib.util.find_spec(model.needs)
            ):
                continue
            work = chosen.to / "page"
            work.mkdir(exist_ok=True)
            (work / "ours.svg").write_text(watched(model).to_svg(), encoding="utf-8")
            depth = DEPTH.get(name, 2)
            try:
                (work / "theirs.svg").write_text(of_torchview(model, depth), encoding="utf-8")
                shown = '<img src="theirs.svg">'
            except Exception as error:  # what it cannot draw is a result too
                shown = f"<p>torchview raises {html.escape(f'{type(error).__name__}: {error}')}</p>"
            width, height = FRAME
            theirs = f"torchview, depth {depth}"
            text = PAGE.format(name=name, theirs=theirs, shown=shown, width=width, height=height)
            (work / "page.html").write_text(text, encoding="utf-8")
            page.goto((work / "page.html").as_uri())
            page.locator("body").screenshot(path=chosen.to / f"{name}.png")
            for file in work.iterdir():
                file.unlink()
            work.rmdir()
            print(name, f"{(chosen.to / f'{name}.png').stat().st_size:,} bytes")
        browser.close()


if __name__ == "__main__":
    main()
