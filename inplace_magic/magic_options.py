"""The flags of ``%%inplace_watch`` and of ``%inplace_watch on``: one ``add_argument`` for each field of
:class:`WatchOptions` that has a flag."""

from __future__ import annotations

import argparse
import difflib
import shlex
from collections.abc import Mapping
from typing import NoReturn

from IPython.core.error import UsageError

from inplace_magic.errors import OptionError
from inplace_magic.language import AUTO, LANGUAGES
from inplace_magic.options import LEVELS, SAVE_SUFFIXES, WatchOptions

DESCRIPTION = """\
Watch this cell: what each line created, viewed, mutated and rebound, and which line broke the gradient.

The cell runs as it would without this line; the report is shown below its own output. %inplace_report shows it again.
"""
EXAMPLE = """\
example:
  %%inplace_watch -o report
  probs = torch.sigmoid(logits)
  probs.mul_(2)
  probs.sum().backward()
"""
STORY_DESCRIPTION = """\
Watch every cell from here on as one story, until `%inplace_watch off`.

Nothing is shown unless something went wrong; then the line that did it, and the line it broke, each with its cell.
`%inplace_watch off` ends the story and shows its whole report, %inplace_report shows it so far, and
`%inplace_watch status` says in one line whether it is on. To watch one cell, write %%inplace_watch on its first line.
"""
STORY_EXAMPLE = """\
example:
  %inplace_watch on
"""
LANG_HELP = "language of the report (default: that of `%%inplace_config`)"
CELL_MAGIC = "%%inplace_watch"
STORY_MAGIC = "%inplace_watch on"


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """Raises what IPython shows as one line, where argparse would end the process."""
        raise UsageError(f"{self.prog}: {message}.")


def watch_parser(magic: str = CELL_MAGIC) -> argparse.ArgumentParser:
    """The parser; each ``dest`` is the name of a field of :class:`WatchOptions`, each default is that field's.

    Args:
        magic: who takes the options, ``%%inplace_watch`` or ``%inplace_watch on``; for its help and its errors.
    """
    parser = Parser(
        magic,
        description=DESCRIPTION if magic == CELL_MAGIC else STORY_DESCRIPTION,
        epilog=EXAMPLE if magic == CELL_MAGIC else STORY_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        argument_default=argparse.SUPPRESS,
        add_help=False,
    )
    # Python 3.14 colours help on terminals; a docstring and a notebook cell show the escape codes as text.
    parser.color = False  # type: ignore[attr-defined, unused-ignore]
    parser.add_argument("-o", "--out", metavar="NAME", help="bind the report to this variable")
    parser.add_argument(
        "--level",
        metavar="{" + ",".join(LEVELS) + "}",
        help="calls (default): every torch call; ops: also every aten op under it and in backward, at a higher cost",
    )
    parser.add_argument("--raw", action="store_true", help="show id and data_ptr in the picture too")
    parser.add_argument("--no-graph", dest="graph", action="store_false", help="leave the autograd graph out")
    parser.add_argument(
        "--widget",
        metavar="NAME",
        nargs="?",
        const="",
        help="show a live widget too; NAME is a variable to bind it to, or a widget to add the report to",
    )
    parser.add_argument(
        "--save",
        metavar="FILE",
        help=f"write the report to a file; its ending picks the format: {', '.join(SAVE_SUFFIXES)}",
    )
    parser.add_argument(
        "--check-values",
        action="store_true",
        help="compare the content of all saved tensors, however large, at every backward",
    )
    parser.add_argument(
        "--max-events",
        metavar="N",
        type=int,
        help=f"keep at most this many calls; of older ones only the evidence (default: {WatchOptions().max_events})",
    )
    parser.add_argument("--lang", metavar="{" + ",".join((*LANGUAGES, AUTO)) + "}", help=LANG_HELP)
    parser.add_argument("-h", "--help", action="store_true", help="show this help and do nothing else")
    return parser


def parse_options(line: str, magic: str = CELL_MAGIC, defaults: Mapping[str, str] | None = None) -> WatchOptions:
    """The options on a ``%%inplace_watch`` line, or after ``%inplace_watch on``.

    Args:
        line: the options, as they were typed.
        magic: who takes them, for the errors.
        defaults: what ``%inplace_config`` set, for options that the line does not give.

    Raises:
        UsageError: a flag that does not exist or a value it cannot take; one sentence says what can be written instead.
    """
    where = "on the lines below it" if magic == CELL_MAGIC else "into the cells that follow"
    given = parse_line(watch_parser(magic), line, f"; put the code to watch {where}")
    try:
        return WatchOptions(**{**(defaults or {}), **vars(given)})
    except OptionError as error:
        raise UsageError(f"{magic}: {error}") from None


def parse_line(parser: argparse.ArgumentParser, line: str, instead: str = "") -> argparse.Namespace:
    """What a parser finds in the rest of a magic's line. A line that asks for help is not looked at any further.

    Args:
        parser: its ``prog`` is the magic, for the errors.
        line: the options, as they were typed.
        instead: the end of the sentence about a word that is no option: what to do with it.

    Raises:
        UsageError: an option that does not exist, or quotes that do not end; one sentence.
    """
    try:
        words = _split(line)
    except ValueError as error:
        raise UsageError(f"{parser.prog}: the options {line!r} cannot be split into words: {error}.") from None
    given, unknown = parser.parse_known_args(words)
    if unknown and not getattr(given, "help", False):
        raise UsageError(_unknown(parser, unknown[0], instead))
    return given


def _split(line: str) -> list[str]:
    """Words as a shell has them, except that a backslash is a character of a Windows path."""
    lexer = shlex.shlex(line, posix=True)
    lexer.whitespace_split = True
    lexer.commenters = lexer.escape = ""
    return list(lexer)


def _unknown(parser: argparse.ArgumentParser, word: str, instead: str) -> str:
    if not word.startswith("-"):
        return f"{parser.prog} takes options only, not {word!r}{instead}."
    flag = word.split("=")[0]
    flags = [name for action in parser._actions for name in action.option_strings]
    near = difflib.get_close_matches(flag, flags, n=1)
    hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(flags)}."
    return f"{parser.prog} has no option {flag}; {hint}"
