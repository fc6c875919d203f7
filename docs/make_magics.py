"""Writes docs/magics.md: each magic with its flags, from the parsers that read its line.

    python docs/make_magics.py

``tests/test_docs.py`` fails while the page differs. Needs no torch.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT)]

from inplace_magic.language import use_language  # noqa: E402
from inplace_magic.magics.across_cells import STORY_MAGIC  # noqa: E402
from inplace_magic.magics.compare import compare_parser  # noqa: E402
from inplace_magic.magics.config import config_parser  # noqa: E402
from inplace_magic.magics.fix import fix_parser  # noqa: E402
from inplace_magic.magics.options import Parser, watch_parser  # noqa: E402
from inplace_magic.magics.report import report_parser  # noqa: E402
from inplace_magic.magics.why import why_parser  # noqa: E402

PAGE = ROOT / "docs" / "magics.md"
_HEAD = """# Magics and their flags

`%load_ext inplace_magic` brings them, and each explains itself with `--help`. The same flags outside notebooks:
[scripts](scripts.md), [tests](tests.md), [Python](api.md).

`docs/make_magics.py` writes this page from the parsers of the magics.
"""


def parsers() -> list[Parser]:
    """Return the parser of each magic, in the order of the page."""
    watch = [watch_parser(), watch_parser(STORY_MAGIC)]
    return [*watch, report_parser(), why_parser(), fix_parser(), compare_parser(), config_parser()]


def page() -> str:
    """Return the page."""
    with use_language("en"):
        return "\n".join([_HEAD, *map(_section, parsers())])


def _section(parser: Parser) -> str:
    rows = [f"| `{_spelling(action)}` | {_help(action)} |" for action in parser._actions]
    parts = [
        f"## `{parser.prog}`",
        (parser.description or "").strip(),
        "\n".join(["| flag | does |", "|---|---|", *rows]),
    ]
    if parser.epilog:
        lines = parser.epilog.rstrip().split("\n")[1:]  # the first one says "example:"
        parts.append("\n".join(["```python", *(line[2:] for line in lines), "```"]))
    return "\n\n".join(parts) + "\n"


def _help(action: argparse.Action) -> str:
    """The help as argparse prints it: ``%%`` stands for ``%`` there."""
    return ((action.help or "") % vars(action)).replace("|", "\\|")


def _spelling(action: argparse.Action) -> str:
    """``-o NAME, --out NAME`` as ``-o, --out NAME``; ``--widget [NAME]``; ``NAME`` of an argument without a flag."""
    value = action.metavar if isinstance(action.metavar, str) else ""
    if action.nargs in ("?", "*") and value:
        value = f"[{value}{' …' if action.nargs == '*' else ''}]"
    return " ".join(filter(None, (", ".join(action.option_strings), value if action.nargs != 0 else "")))


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
