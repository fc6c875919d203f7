"""The page of magics, in both languages: each with its flags, from the parsers that read its line.

``make_pages.py`` writes it for the site. Needs no torch.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT)]

from inplace_magic.language import language, use_language  # noqa: E402
from inplace_magic.magics.across_cells import STORY_MAGIC  # noqa: E402
from inplace_magic.magics.compare import compare_parser  # noqa: E402
from inplace_magic.magics.config import config_parser  # noqa: E402
from inplace_magic.magics.fix import fix_parser  # noqa: E402
from inplace_magic.magics.options import Parser, watch_parser  # noqa: E402
from inplace_magic.magics.report import report_parser  # noqa: E402
from inplace_magic.magics.why import why_parser  # noqa: E402

PAGES = {"en": "magics.md", "zh": "zh/magics.md"}
"""Path of the page in docs/, by language."""
_HEADS = {
    "en": """# Magics and their flags

`%load_ext inplace_magic` brings them, and each explains itself with `--help`. The same flags outside notebooks:
[scripts](scripts.md), [tests](tests.md), [Python](api.md).
""",
    "zh": """# 魔法命令和它们的选项

`%load_ext inplace_magic` 之后就可以使用；每个命令加上 `--help` 都会说明自己。笔记本之外有同样的选项：
[脚本](../scripts.md)、[测试](../tests.md)、[Python](../api.md)（英文）。
""",
}
_COLUMNS = {"en": "| flag | does |", "zh": "| 选项 | 作用 |"}


def parsers() -> list[Parser]:
    """Return the parser of each magic, in the order of the page."""
    watch = [watch_parser(), watch_parser(STORY_MAGIC)]
    return [*watch, report_parser(), why_parser(), fix_parser(), compare_parser(), config_parser()]


def pages() -> dict[str, str]:
    """Return the text of each page, by its path in docs/."""
    made = {}
    for name, path in PAGES.items():
        with use_language(name):
            made[path] = "\n".join([_HEADS[name], *map(_section, parsers())])
    return made


def _section(parser: Parser) -> str:
    rows = [f"| `{_spelling(action)}` | {_help(action)} |" for action in parser._actions]
    parts = [
        f"## `{parser.prog}`",
        (parser.description or "").strip(),
        "\n".join([_COLUMNS[language()], "|---|---|", *rows]),
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
