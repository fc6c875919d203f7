"""What `pip install` brings: all of the package, and nothing else; and what an index shows of it."""

from __future__ import annotations

import email
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from forking.starting import python
from scripts import ROOT, script

MADE = {".pyc", ".mo"}
OF_THE_SOURCE_ALONE = {".pyc", ".po"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=ROOT,
        check=True,
        capture_output=True,
        timeout=120,
    )
    return zipfile.ZipFile(*folder.glob("*.whl"))


def test_the_wheel_holds_every_file_of_the_package_that_runs_and_nothing_else(wheel: zipfile.ZipFile) -> None:
    held = {name for name in wheel.namelist() if ".dist-info/" not in name}
    files = (path for path in (ROOT / "inplace_magic").rglob("*") if path.is_file())
    assert held == {path.relative_to(ROOT).as_posix() for path in files if path.suffix not in OF_THE_SOURCE_ALONE}
    endings = {Path(name).suffix for name in held}
    assert {".py", ".mo", ".js", ".css"} <= endings
    assert "inplace_magic/py.typed" in held


def test_an_index_shows_the_readme_without_links_that_lead_nowhere(wheel: zipfile.ZipFile) -> None:
    (metadata,) = [name for name in wheel.namelist() if name.endswith(".dist-info/METADATA")]
    said = email.message_from_bytes(wheel.read(metadata))
    text = str(said.get_payload())
    assert "pip install inplace_magic\n" in text
    assert "in a checkout" not in text
    assert "## Watch a cell" in text
    assert re.findall(r"\]\((?!https?://)[^)]*\.(?:md|png|ipynb)\b[^)]*\)", text) == []
    assert said["Author"] == "the inplace_magic developers"


def test_with_an_address_the_links_of_the_readme_lead_there() -> None:
    page = script(".ci/readme_for_index.py").page(
        "![A](docs/a.png) and [B](docs/b.md#c), [C](https://c.example)", "https://host.example/x/", "1.2"
    )
    assert "![A](https://host.example/x/raw/v1.2/docs/a.png)" in page
    assert "[B](https://host.example/x/blob/v1.2/docs/b.md#c), [C](https://c.example)" in page


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
        for file in (ROOT / "inplace_magic").rglob("*.*"):
            if file.suffix not in MADE:
                archive.write(file, file.relative_to(ROOT))
        for name in ("pyproject.toml", "README.md", "LICENSE", ".ci/readme_for_index.py", "docs/make_messages.py"):
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
