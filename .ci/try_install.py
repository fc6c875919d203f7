"""Installs a wheel or an sdist in an empty environment and makes its first report:

    python .ci/try_install.py dist/inplace_magic-0.1.0-py3-none-any.whl [--with-torch-of FOLDER] [--no-deps]

It prints how many packages came, their size and the seconds of it, and fails where there is no report. An interpreter
that has torch lends it with all that lies beside it (``--with-torch-of`` names another folder), so that torch
is not downloaded again; from an interpreter without torch, everything is installed.
"""

from __future__ import annotations

import argparse
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


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("package", help="a wheel or an sdist")
    parser.add_argument("--with-torch-of", metavar="FOLDER", help="a site-packages that has torch")
    parser.add_argument("--no-deps", action="store_true", help="install the package alone")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = Path(folder, "Scripts" if sys.platform == "win32" else "bin", "python")
        site = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())
        before = packages(python)
        lent = asked.with_torch_of or folder_of_torch()
        if lent:
            (site / "torch.pth").write_text(f"{lent}\n", encoding="utf-8")
        began = time.perf_counter()
        settings = ["--quiet", "--disable-pip-version-check", *(["--no-deps"] if asked.no_deps else [])]
        run(python, "-m", "pip", "install", *settings, str(Path(asked.package).resolve()))
        seconds = time.perf_counter() - began
        (site / "torch.pth").unlink(missing_ok=True)
        came = sorted(packages(python) - before)
        size = sum(file.stat().st_size for file in site.rglob("*") if file.is_file()) / 2**20
        print(f"{Path(asked.package).name}: {len(came)} packages, {size:.0f} MiB, {seconds:.0f} s: {', '.join(came)}")
        if lent:
            (site / "torch.pth").write_text(f"{lent}\n", encoding="utf-8")
        print(*run(python, "-c", SESSION).strip().splitlines()[-2:], sep="\n")


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
