"""How many files of the package one call, one finding and one comparison go through: those of which a function runs.

    python benchmarks/journeys.py [CHECKOUT]

Two commits are held against each other by a checkout of each: ``git worktree add ../older COMMIT``. A file of plain
data, which is read and not called, is not counted.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

TREE = Path(sys.argv[1] if sys.argv[1:] else ".").resolve()
PACKAGE = TREE / "inplace_magic"
RECORDING = ("capture/", "source/", "record/", "trace.py", "options.py")


def followed(work: Callable[[], Any]) -> tuple[set[str], Any]:
    """The files whose functions a piece of work runs, and what it gives."""
    files: set[str] = set()

    def seen(frame: FrameType, event: str, _argument: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(str(PACKAGE)) and code.co_name != "<module>":
            files.add(Path(code.co_filename).relative_to(PACKAGE).as_posix())

    sys.setprofile(seen)
    try:
        return files, work()
    finally:
        sys.setprofile(None)


def tell(title: str, files: set[str]) -> None:
    """Prints a figure, and the files."""
    lines = sum(len((PACKAGE / file).read_text("utf-8").splitlines()) for file in files)
    print(f"{title}: {len(files)} files, {lines:,} lines\n    {' '.join(sorted(files))}")


def module_with(*texts: str) -> ModuleType:
    """The module of the package that says all of some texts, wherever it stands."""
    for file in sorted(PACKAGE.rglob("*.py")):
        if all(text in file.read_text("utf-8") for text in texts):
            return importlib.import_module(".".join(file.relative_to(TREE).with_suffix("").parts))
    raise LookupError(texts)


def of_a_call() -> tuple[set[str], set[str]]:
    """What a call goes through until it is recorded, and the end of its watch until it stands in a trace."""
    import torch

    import inplace_magic

    watch = inplace_magic.watch()
    watch.__enter__()
    y = torch.sigmoid(torch.ones(3, requires_grad=True))
    call, _result = followed(lambda: y.add_(1))
    end, _none = followed(lambda: watch.__exit__(None, None, None))
    return call, {file for file in end if file.startswith(RECORDING)}


def of_a_finding() -> tuple[set[str], set[str], set[str]]:
    """What it takes to find that a saved tensor was overwritten, to find the fix, and to show the card."""
    import torch

    import inplace_magic

    with contextlib.suppress(RuntimeError), inplace_magic.watch() as watch:
        y = torch.sigmoid(torch.ones(3, requires_grad=True))
        y.mul_(2)
        y.sum().backward()
    story_of = module_with("\nclass Story(").Story
    rule = module_with('\nCODE = "saved-tensor-overwritten"', "\ndef check(")
    with_fix = module_with("\ndef with_fix(").with_fix
    cards = module_with("\ndef finding_cards(").finding_cards
    report: Any = watch.report
    found, (story, hazard) = followed(lambda: (story := story_of(report.trace), next(iter(rule.check(story)))))
    cures = (rule.RULE.cures[hazard.code],) if hasattr(rule, "RULE") else ()
    cured, _hazard = followed(lambda: with_fix(story, hazard, *cures))
    shown, _text = followed(lambda: cards(report))
    return found, cured, shown


def of_a_comparison(shell: Any) -> set[str]:
    """What a comparison goes through, and a watched cell that is shown does not."""
    cell = "net = nn.Sequential(nn.Linear(4, 4), nn.ReLU(inplace=True))\nnet(x).sum().backward()"
    watched, _none = followed(lambda: shell.run_cell(f"%%inplace_watch --level ops\n{cell}").raise_error())
    compared, _none = followed(lambda: shell.run_cell(f"%%inplace_compare --flip\n{cell}").raise_error())
    return compared - watched


def main() -> None:
    """Follows each twice: what is imported, or looked up once, is there the second time."""
    sys.path.insert(0, str(TREE))
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    shell: Any = InteractiveShell.instance(config=Config({"HistoryManager": {"hist_file": ":memory:"}}))
    setup = "%load_ext inplace_magic\nimport torch\nfrom torch import nn\nx = torch.ones(4, 4, requires_grad=True)"
    shell.run_cell(setup).raise_error()
    for _time in range(2):
        call, end = of_a_call()
        found, cured, shown = of_a_finding()
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            compared = of_a_comparison(shell)
    tell("one call, until it is recorded", call)
    tell("the end of its watch, until it stands in a trace", end)
    tell("both", call | end)
    tell("one finding", found | cured | shown)
    print(f"    to find it {len(found)}, to find its fix {len(cured)}, to show its card {len(shown)}")
    tell("one comparison, beyond what a watched cell goes through", compared)


if __name__ == "__main__":
    main()
