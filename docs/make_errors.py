"""Writes docs/errors.md: each of PyTorch's autograd errors, why it is raised, a program that raises it and a cured one.

    python docs/make_errors.py

The texts and programs are those of ``tests/postmortem/refused.md``, which the tests run; why PyTorch raises is what the
answer below a failing cell says. ``tests/postmortem/test_page.py`` fails while the page differs. Needs no torch.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "docs"), str(ROOT / "tests")]

import make_rules  # noqa: E402  # beside this file
from postmortem.refused import Program, programs  # noqa: E402

from inplace_magic.postmortem.errors import KINDS  # noqa: E402

PAGE = ROOT / "docs" / "errors.md"
_HEAD = """# Errors of autograd

What the errors mean that a cell or a script ends with. Each has a code; `inplace_magic.answer()` gives it after a
failure that nobody watched, with the line and the variable of your program. The error "modified by an inplace
operation" has
[a page of its own](rules/saved-tensor-overwritten.md). In the programs `nn` is `torch.nn`.

`docs/make_errors.py` writes this page of programs that the tests run.
"""


def page() -> str:
    """Return the page."""
    whys = {kind.code: kind.why for kind in KINDS if kind.why}
    codes = {code: rule for rule in make_rules.rules() for code in rule.codes}
    found = list(programs())
    parts = [_HEAD]
    for code in dict.fromkeys(program.code for program in found):
        own = [program for program in found if program.code == code]
        bad = next(program for program in own if program.cause is not None)
        good = next(program for program in own if program.cause is None)
        why = whys[code].replace(" ({maker})", "").replace("{maker}", "The operation")
        see = f" More: [`{code}`](rules/{codes[code].page})." if code in codes else ""
        blocks = (f"## {code}", f"> {bad.error}", f"{why}{see}", "**Bad**", _code(bad), "**Good**", _code(good))
        parts.append("\n\n".join(blocks) + "\n")
    return "\n".join(parts)


def _code(program: Program) -> str:
    rows = program.text.rstrip("\n").split("\n")
    if program.cause is not None:
        marks = {program.raises: "raises", program.cause: "the cause"}
        marks = {program.cause: "raises"} if program.raises == program.cause else marks
        for line, mark in marks.items():
            rows[(line or 1) - 1] += f"  # {mark}"
    return "```python\n" + re.sub(r"\n{4,}", "\n\n\n", "\n".join(rows)) + "\n```"


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(), encoding="utf-8")
    print(f"{PAGE.relative_to(ROOT).as_posix()} written", file=sys.stderr)


if __name__ == "__main__":
    main()
