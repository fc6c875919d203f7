"""Installs a wheel or an sdist in an empty environment and makes its first report:

    python .ci/try_install.py dist/inplace_magic-0.1.0-py3-none-any.whl [--with-torch-of FOLDER] [--without-torch]

It prints how many packages came, their size and the seconds of it, and fails where there is no report. An interpreter
that has torch lends it with all that lies beside it (``--with-torch-of`` names another folder), so that torch
is not downloaded again; from an interpreter without torch, everything is installed. ``--without-torch`` leaves it out
and prints what a watch says then. An extra is named as pip names it: ``dist/….whl[png]``.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import time
import venv
from importlib.util import find_spec
from pathlib import Path

SESSION = '''
from IPython.core.interactiveshell import InteractiveShell

shell = InteractiveShell.instance()
shell.run_cell("%load_ext inplace_magic").raise_error()
result = shell.run_cell("""%%inplace_watch -o report
import torch
logits = torch.randn(4, requires_grad=True)
probs = torch.sigmoid(logits)
probs[2] = 1.0
probs.sum().backward()""")
report = shell.user_ns["report"]
print("RuntimeError" == type(result.error_in_exec).__name__, report.hazards[0].code, report.hazards[0].mutation.line)
print(f"picture: {len(report.to_svg())} characters; memory by line: {len(report.memory)} rows; {report!r}")
'''

REQUIRED = """
from importlib.metadata import requires
wanted = [line for line in requires("inplace_magic") if "extra ==" not in line and not line.startswith("torch")]
print(*wanted, sep="\\n")
"""
WITHOUT_TORCH = """
from IPython.core.interactiveshell import InteractiveShell

shell = InteractiveShell.instance()
shell.run_cell("%load_ext inplace_magic").raise_error()
shell.run_cell("%%inplace_watch\\n1 + 1").raise_error()
"""


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("package", help="a wheel or an sdist")
    parser.add_argument("--with-torch-of", metavar="FOLDER", help="a site-packages that has torch")
    parser.add_argument("--without-torch", action="store_true", help="install all that it needs but torch")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = Path(folder, "Scripts" if sys.platform == "win32" else "bin", "python")
        site = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())
        before = packages(python)
        lent = None if asked.without_torch else asked.with_torch_of or folder_of_torch()
        if lent:
            (site / "torch.pth").write_text(f"{lent}\n", encoding="utf-8")
        began = time.perf_counter()
        file, extras = re.fullmatch(r"(.*?)(\[.*\])?", asked.package).groups("")
        install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        run(python, *install, *(["--no-deps"] if asked.without_torch else []), f"{Path(file).resolve()}{extras}")
        if asked.without_torch:
            run(python, *install, *run(python, "-c", REQUIRED).splitlines())
        seconds = time.perf_counter() - began
        (site / "torch.pth").unlink(missing_ok=True)
        came = sorted(packages(python) - before)
        size = sum(file.stat().st_size for file in site.rglob("*") if file.is_file()) / 2**20
        what = f"{Path(asked.package).name} on Python {sys.version.split()[0]}"
        print(f"{what}: {len(came)} packages, {size:.0f} MiB, {seconds:.0f} s: {', '.join(came)}")
        if lent:
            (site / "torch.pth").write_text(f"{lent}\n", encoding="utf-8")
        said = run(python, "-c", WITHOUT_TORCH if asked.without_torch else SESSION)
        print(*said.strip().splitlines()[-2:], sep="\n")


def folder_of_torch() -> str | None:
    """Return the folder from which this interpreter would import torch; None where it has none."""
    found = find_spec("torch")
    return None if found is None or found.origin is None else str(Path(found.origin).parent.parent)


def packages(python: Path) -> set[str]:
    """Return the names and versions of what is installed."""
    return set(run(python, "-m", "pip", "list", "--format=freeze", "--disable-pip-version-check").split())


def run(python: Path, *arguments: str) -> str:
    """Return what a command of the environment prints."""
    ran = subprocess.run([str(python), *arguments], cwd=python.parent, capture_output=True, text=True, check=False)
    if ran.returncode:
        sys.exit(f"{' '.join(arguments[:4])} failed:\n{ran.stdout}{ran.stderr}")
    return ran.stdout


if __name__ == "__main__":
    main()
