"""What a notebook's cells gave when it was run, in a file of its own beside the notebook that learners open.

An answer that is saved in a notebook is seen before the guess: JupyterLab shows the first line of a folded output too, and
Colab and VS Code fold nothing. So ``en/01_….ipynb`` has no outputs, ``outputs/en/01_….json`` has them by the id of their
cell, and the documentation site puts the two together.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent


def beside(notebook: Path) -> Path:
    """Where the outputs of a notebook are kept."""
    return HERE / "outputs" / notebook.resolve().relative_to(HERE).with_suffix(".json")


def taken_out(run: str) -> tuple[str, str]:
    """The file of a notebook that was run, as that of one that never was, and that of its outputs."""
    notebook, kept = json.loads(run), {}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            kept[cell["id"]] = {"execution_count": cell["execution_count"], "outputs": cell["outputs"]}
            cell.update(execution_count=None, outputs=[])
    return _written(notebook), _written(kept)


def put_back(never_run: str, kept: str) -> str:
    """The file of the notebook as it was run."""
    notebook, outputs = json.loads(never_run), json.loads(kept)
    for cell in notebook["cells"]:
        cell.update(outputs.get(cell["id"], {}))
    return _written(notebook)


def _written(content: Any) -> str:
    """As nbformat writes a notebook."""
    return json.dumps(content, ensure_ascii=False, indent=1, sort_keys=True) + "\n"
