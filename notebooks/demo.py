"""``make demo``: runs quickstart.ipynb in a real kernel, prints the reports of its watched cells, writes it as a page.

python notebooks/demo.py [NOTEBOOK] [FOLDER]
"""

from __future__ import annotations

import argparse
import io
import sys
from pathlib import Path
from typing import Any

import nbformat
from kernel_sockets import kernel_sockets
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbconvert import HTMLExporter

HERE = Path(__file__).resolve().parent
REPORT_MARK = 'class="inplace-magic"'
"""Stands in the HTML of every report, see inplace_magic/render/page/html.py."""


def main() -> int:
    """Exit status 0 when every cell did what the notebook means it to do, failing cells included; else 1."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("notebook", nargs="?", type=Path, default=HERE / "quickstart.ipynb")
    parser.add_argument("folder", nargs="?", type=Path, default=HERE.parent / "build")
    arguments = parser.parse_args()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal without Unicode shows `?` for a symbol, and goes on

    notebook = nbformat.read(arguments.notebook, as_version=4)
    failure = execute(notebook, arguments.notebook.parent)
    for cell in notebook.cells:
        for text in reports_of(cell):
            print(f"── {arguments.notebook.name}, Cell In[{cell.execution_count}] ──\n")
            print(text.rstrip() + "\n")

    arguments.folder.mkdir(parents=True, exist_ok=True)
    page = arguments.folder / f"{arguments.notebook.stem}.html"
    html, _ = HTMLExporter().from_notebook_node(notebook)
    page.write_text(html, encoding="utf-8")
    print(f"The same as a page, with the pictures: {page}")
    if failure:
        print(f"\nThe demo stopped: a cell failed that should not.\n{failure}", file=sys.stderr)
    return 1 if failure else 0


def execute(notebook: Any, folder: Path) -> str:
    """Runs all cells as "Run all" does, in place; gives the failure that stopped it, or an empty text.

    A cell tagged ``raises-exception`` is meant to fail, and does not stop it.
    """
    settings = {"metadata": {"path": str(folder)}}
    client = NotebookClient(notebook, kernel_name="python3", timeout=600, resources=settings, config=kernel_sockets())
    try:
        client.execute()
    except CellExecutionError as error:
        return str(error)
    return ""


def reports_of(cell: Any) -> list[str]:
    """The reports among a cell's outputs, as text."""
    bundles = [output.data for output in cell.get("outputs", []) if output.output_type == "display_data"]
    return [data["text/plain"] for data in bundles if REPORT_MARK in data.get("text/html", "")]


if __name__ == "__main__":
    sys.exit(main())
