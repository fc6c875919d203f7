"""What `pip install` brings: all of the package, and nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from forking.starting import python
from scripts import ROOT, script


def test_the_wheel_holds_every_file_of_the_package_and_nothing_else(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)],
        cwd=ROOT,
        check=True,
        capture_output=True,
        timeout=120,
    )
    (wheel,) = tmp_path.glob("*.whl")
    held = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    files = (path for path in (ROOT / "inplace_magic").rglob("*") if path.is_file() and path.suffix != ".pyc")
    assert held == {path.relative_to(ROOT).as_posix() for path in files}
    endings = {Path(name).suffix for name in held}
    assert {".py", ".mo", ".js", ".css"} <= endings
    assert "inplace_magic/py.typed" in held


ELSEWHERE = """
import sys
from IPython.core.interactiveshell import InteractiveShell

shell = InteractiveShell.instance()
for cell in sys.argv[1], "%%inplace_watch -o report --no-graph\\ny = torch.ones(2).add_(1)":
    shell.run_cell(cell).raise_error()
print(sys.modules["inplace_magic"].__file__, shell.user_ns["report"].language)
"""
SESSIONS = {"none": {}, "of another language": {"JPY_SESSION_NAME": "course/en/zh.ipynb", "LANG": "de_DE.UTF-8"}}


@pytest.fixture(scope="module")
def uploaded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where pip put a zip of the checkout, as docs/notebooks.md tells people on Colab and Kaggle to install it."""
    folder = tmp_path_factory.mktemp("uploaded")
    with zipfile.ZipFile(folder / "inplace_magic.zip", "w") as archive:
        for file in (path for path in (ROOT / "inplace_magic").rglob("*") if path.is_file() and path.suffix != ".pyc"):
            archive.write(file, file.relative_to(ROOT))
        for name in ("pyproject.toml", "README.md", "LICENSE"):
            archive.write(ROOT / name, name)
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    put = [*pip, "--target", str(folder / "site"), str(folder / "inplace_magic.zip")]
    subprocess.run(put, check=True, capture_output=True, timeout=300)
    return folder / "site"


@pytest.mark.parametrize("session", SESSIONS)
@pytest.mark.parametrize(("text", "language"), [("quickstart.md", "en"), ("zh/quickstart.md", "zh")])
def test_the_first_cell_of_a_notebook_without_a_checkout_runs_after_the_zip_is_installed_in_its_own_language(
    uploaded: Path, tmp_path: Path, text: str, language: str, session: str
) -> None:
    notebook = script("notebooks/build.py").notebook_of(ROOT / "notebooks" / text)
    (first, *_) = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
    ran = subprocess.run(
        [python(), "-c", ELSEWHERE, first],
        cwd=tmp_path,
        env={**kept, **SESSIONS[session], "PYTHONPATH": str(uploaded), "IPYTHONDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    assert ran.stdout.splitlines()[-1] == f"{uploaded / 'inplace_magic' / '__init__.py'} {language}"
