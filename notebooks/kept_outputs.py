"""The outputs of a notebook's cells, in a file of their own.

A saved answer is seen before the guess: JupyterLab shows the first line of a folded output too, and Colab and VS Code fold
nothing. So ``notebooks/en/01_….ipynb`` has no outputs. ``build/outputs/en/01_….json``, written by ``build.py --outputs``,
has them by the id of their cell; the documentation site and the gallery put the two together.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent


def beside(notebook: Path) -> Path:
    """Return the file of a notebook's outputs."""
    return HERE.parent / "build" / "outputs" / notebook.resolve().relative_to(HERE).with_suffix(".json")


def taken_out(run: str) -> tuple[str, str]:
    """Return the text of a notebook without its outputs, and the text of the file with its outputs."""
    notebook, kept = json.loads(run), {}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            kept[cell["id"]] = {"execution_count": cell["execution_count"], "outputs": cell["outputs"]}
            cell.update(execution_count=None, outputs=[])
    return _written(notebook), _written(kept)


def put_back(never_run: str, kept: str) -> str:
    """Return the text of the notebook with its outputs."""
    notebook, outputs = json.loads(never_run), json.loads(kept)
    for cell in notebook["cells"]:
        cell.update(outputs.get(cell["id"], {}))
    return _written(notebook)


def _written(content: Any) -> str:
    """As nbformat writes a notebook."""
    return json.dumps(content, ensure_ascii=False, indent=1, sort_keys=True) + "\n"
