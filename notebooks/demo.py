"""``make demo``: runs quickstart.ipynb in a real kernel, prints what each watched cell is told, writes it as a page.

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

    name = arguments.notebook.name
    notebook = nbformat.read(arguments.notebook, as_version=4)
    print(f"Run {name} in a Jupyter kernel; it imports torch first.\n", flush=True)
    failure = execute(notebook, arguments.notebook.parent, name)

    arguments.folder.mkdir(parents=True, exist_ok=True)
    page = arguments.folder / f"{arguments.notebook.stem}.html"
    html, _ = HTMLExporter().from_notebook_node(notebook)
    page.write_text(html, encoding="utf-8")
    print(f"\nThe whole reports, with their pictures: {page}")
    if failure:
        print(f"\nThe demo stopped: a cell failed that should not.\n{failure}", file=sys.stderr)
    return 1 if failure else 0


def execute(notebook: Any, folder: Path, name: str) -> str:
    """Run all cells as "Run all" does, in place, and print the findings of each cell as it ends.

    A cell tagged ``raises-exception`` is meant to fail, and does not stop it.

    Returns:
        The failure that stopped it, or an empty text.
    """

    def show(cell: Any, cell_index: int, execute_reply: Any) -> None:
        for text in reports_of(cell):
            print(f"{name}, Cell In[{cell.execution_count}]: {findings_of(text)}", flush=True)

    client = NotebookClient(
        notebook,
        kernel_name="python3",
        timeout=600,
        resources={"metadata": {"path": str(folder)}},
        config=kernel_sockets(),
        on_cell_executed=show,
    )
    try:
        client.execute()
    except CellExecutionError as error:
        return str(error)
    return ""


def reports_of(cell: Any) -> list[str]:
    """The reports among a cell's outputs, as text."""
    bundles = [output.data for output in cell.get("outputs", []) if output.output_type == "display_data"]
    return [data["text/plain"] for data in bundles if REPORT_MARK in data.get("text/html", "")]


def findings_of(text: str) -> str:
    """Return the verdict of a report and, of each finding, the code and the fix: the indented paragraphs."""
    verdict, *paragraphs = text.rstrip().split("\n\n")
    shown = [each for each in paragraphs if each.startswith("  ")]
    return "\n\n".join([verdict, *shown]) + ("\n" if shown else "")


if __name__ == "__main__":
    sys.exit(main())
