"""Every notebook, run with the oldest versions of the Jupyter tools (``.venv-min``, made by make)."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from lessons.texts import EVERY, ROOT

PYTHON = ROOT / ".venv-min" / "bin" / "python"
PINS = dict(
    line.split("==")
    for line in (ROOT / ".ci/constraints-min.txt").read_text(encoding="utf-8").splitlines()
    if "==" in line and not line.startswith("#")
)
VERSIONS = "import importlib.metadata as m, sys; print(*(m.version(name) for name in sys.argv[1:]))"

pytestmark = pytest.mark.skipif(not PYTHON.exists(), reason="no .venv-min: `make test` makes it")


def _run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [str(PYTHON), *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=1800, check=False)


def test_the_environment_has_the_oldest_versions() -> None:
    assert _run("-c", VERSIONS, *PINS).stdout.split() == list(PINS.values())


def test_all_notebooks_run_from_top_to_bottom() -> None:
    done = _run(str(Path("notebooks", "build.py")), "--run")
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{len(EVERY)} notebooks in " in done.stdout
