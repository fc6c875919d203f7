"""``make demo`` on a small notebook: what it prints, what it writes, and when it fails."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import nbformat
from forking.kernels import jupyter_path
from packaging.requirements import Requirement

DEMO = Path(__file__).parent.parent / "notebooks" / "demo.py"
BROKEN = """\
%%inplace_watch
logits = torch.ones(3, requires_grad=True) * 2
probs = torch.sigmoid(logits)
probs.mul_(2)
probs.sum().backward()"""


def run_demo(folder: Path, *cells: str, tags: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    """Runs the demo on a notebook of these cells after the imports; the tags are those of the last cell."""
    notebook = nbformat.v4.new_notebook()
    notebook.cells = [nbformat.v4.new_code_cell(cell) for cell in ("%load_ext inplace_magic\nimport torch", *cells)]
    notebook.cells[-1].metadata["tags"] = list(tags)
    nbformat.write(notebook, folder / "small.ipynb")
    command = [sys.executable, str(DEMO), str(folder / "small.ipynb"), str(folder / "build")]
    return subprocess.run(
        command,
        env={**os.environ, "JUPYTER_PATH": jupyter_path()},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_it_prints_every_report_and_writes_the_page(tmp_path: Path) -> None:
    done = run_demo(
        tmp_path, "print('no report')", "%%inplace_watch\nx = torch.ones(2)", BROKEN, tags=("raises-exception",)
    )
    assert done.returncode == 0, done.stderr
    assert "small.ipynb, Cell In[3]" in done.stdout
    assert "small.ipynb, Cell In[4]" in done.stdout
    assert "no report" not in done.stdout
    assert "`probs`" in done.stdout
    page = tmp_path / "build" / "small.html"
    assert str(page) in done.stdout
    assert 'class="inplace-magic"' in page.read_text(encoding="utf-8")


def test_a_cell_that_should_not_fail_fails_the_demo(tmp_path: Path) -> None:
    done = run_demo(tmp_path, "%%inplace_watch\n1 / 0")
    assert done.returncode == 1
    assert "ZeroDivisionError" in done.stderr
    assert (tmp_path / "build" / "small.html").exists()


def test_it_is_short(tmp_path: Path) -> None:
    done = run_demo(tmp_path, "%%inplace_watch\nx = torch.ones(2)", BROKEN, tags=("raises-exception",))
    assert [line for line in done.stdout.splitlines() if "In[2]" in line] == [
        "small.ipynb, Cell In[2]: ✓ Nothing wrong found: 1 torch call, none of them in-place."
    ]
    assert "<- overwritten here" in done.stdout
    assert "Memory" not in done.stdout


def test_it_installs_no_linter_browser_or_site_builder() -> None:
    project = (DEMO.parent.parent / "pyproject.toml").read_text(encoding="utf-8")
    lists = re.findall(r"^(?:dependencies|demo) = \[(.*?)\]$", project, re.MULTILINE | re.DOTALL)
    waiting = [Requirement(each) for each in re.findall(r'"(.*)"', "\n".join(lists).replace('", "', '"\n"'))]
    installed: set[str] = set()
    while waiting:
        wanted = waiting.pop()
        if wanted.name not in installed and (wanted.marker is None or wanted.marker.evaluate({"extra": ""})):
            installed.add(wanted.name)
            waiting += map(Requirement, metadata.requires(wanted.name) or [])
    assert installed >= {"torch", "ipykernel", "nbclient"}
    assert not installed & {"jupyterlab", "mypy", "notebook", "playwright", "pytest", "ruff", "sphinx"}
