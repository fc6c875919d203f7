"""The parser of the magics' lines: the flags of ``flags.py``, help and errors for a notebook."""

from __future__ import annotations

import argparse
import difflib
import re
import shlex
import shutil
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, NoReturn

from IPython.core.error import UsageError

from inplace_magic import flags
from inplace_magic.errors import OptionError
from inplace_magic.flags import Options
from inplace_magic.language import N_, _, language

DESCRIPTION = N_("""\
Watch this cell: what each line created, viewed, mutated and rebound, and which line broke the gradient.

The cell runs as it would without this line; the report is shown below its own output. %inplace_report shows it again.
""")
EXAMPLE = N_("""\
example:
  %%inplace_watch -o report
  probs = torch.sigmoid(logits)
  probs.mul_(2)
  probs.sum().backward()
""")
STORY_DESCRIPTION = N_("""\
Watch every cell from here on as one story, until `%inplace_watch off`.

Only faults are shown: the line that caused it and the line that it broke, each with its cell.
`%inplace_watch off` ends the story and shows its whole report, %inplace_report shows the report so far, and
`%inplace_watch status` says if it is on. To watch one cell, write %%inplace_watch on its first line.
""")
STORY_EXAMPLE = N_("""\
example:
  %inplace_watch on
""")
CELL_MAGIC = "%%inplace_watch"
STORY_MAGIC = "%inplace_watch on"


class _Help(argparse.RawDescriptionHelpFormatter):
    def add_usage(self, usage: Any, actions: Any, groups: Any, prefix: str | None = None) -> None:
        """With argparse's own word for it, which no catalogue of ours would reach, in the reader's language."""
        super().add_usage(usage, actions, groups, _("usage: ") if prefix is None else prefix)


class Parser(argparse.ArgumentParser):
    """A parser whose help and errors are for a notebook."""

    def __init__(self, magic: str, description: str, epilog: str = "", given: Any = argparse.SUPPRESS) -> None:
        super().__init__(
            magic, description=description, epilog=epilog, formatter_class=_Help, add_help=False, argument_default=given
        )
        # Python 3.14 colours help on terminals; a docstring and a notebook cell show the escape codes as text.
        self.color = False
        self.names = self.add_argument_group(_("positional arguments"))
        self.options = self.add_argument_group(_("options"))

    def with_flags(self, *fields: str) -> Parser:
        """Return the parser with the flags of these fields, and ``--help`` at the end of the list."""
        flags.add(self.options, *fields)
        self.options.add_argument("-h", "--help", action="store_true", help=_("show this help and do nothing else"))
        return self

    def error(self, message: str) -> NoReturn:
        """Raises what IPython shows as one line, where argparse would end the process."""
        raise UsageError(f"{self.prog}: {message}.")


def help_of(make: Callable[..., Parser], *magic: str) -> str:
    """Return the ``--help`` text of the parser that `make` gives for a magic, in the current language and width;
    cached, since loading the extension asks for all of them, as docstrings."""
    return _help_of(make, magic, language(), shutil.get_terminal_size().columns)


@cache
def _help_of(make: Callable[..., Parser], magic: tuple[str, ...], spoken: str, columns: int) -> str:
    return make(*magic).format_help()


def watch_parser(magic: str = CELL_MAGIC) -> Parser:
    """Return the parser; each ``dest`` is the name of a field of :class:`Options`' records, each default is that
    field's.

    Args:
        magic: who takes the options, ``%%inplace_watch`` or ``%inplace_watch on``; for its help and its errors.
    """
    parser = Parser(
        magic,
        description=_(DESCRIPTION if magic == CELL_MAGIC else STORY_DESCRIPTION),
        epilog=_(EXAMPLE if magic == CELL_MAGIC else STORY_EXAMPLE),
    )
    fields = ("out", "level", "raw", "graph", "opened", "widget", "save", "check_values", "full", "max_events", "lang")
    # a story has no program to rerun
    return parser.with_flags(*fields, *(("prove",) if magic == CELL_MAGIC else ()))


def parse_options(line: str, magic: str = CELL_MAGIC, defaults: Mapping[str, Any] | None = None) -> Options:
    """Return the options on a ``%%inplace_watch`` line, or after ``%inplace_watch on``.

    Args:
        line: the options, as they were typed.
        magic: who takes them, for the errors.
        defaults: what ``%inplace_config`` set, for options that the line does not give.

    Raises:
        UsageError: a flag that does not exist or a value it cannot take; one sentence says what can be written instead.
    """
    refused = (
        _("{magic} takes options only, not {word!r}; put the code to watch on the lines below it.")
        if magic == CELL_MAGIC
        else _("{magic} takes options only, not {word!r}; put the code to watch into the cells that follow.")
    )
    given = parse_line(watch_parser(magic), line, refused)
    try:
        return Options.of({**(defaults or {}), **vars(given)})
    except OptionError as error:
        raise UsageError(f"{magic}: {error}") from None


def parse_line(parser: Parser, line: str, refused: str = "") -> argparse.Namespace:
    """Parse the rest of a magic's line; ``--help`` ends the parsing.

    Args:
        parser: its ``prog`` is the magic, for the errors.
        line: the options, as they were typed.
        refused: a sentence about a ``{word}`` that is no option, if it should say what to do with it.

    Raises:
        UsageError: an unknown option, or quotes that do not end; one sentence.
    """
    try:
        words = _split(line)
    except ValueError as error:
        text = _("{magic}: the options {options!r} cannot be split into words: {error}.")
        raise UsageError(text.format(magic=parser.prog, options=line, error=error)) from None
    given, unknown = parser.parse_known_args(words)
    if unknown and not getattr(given, "help", False):
        refused = refused or _("{magic} takes options only, not {word!r}.")
        word = unknown[0]
        raise UsageError(
            _unknown(parser, word) if word.startswith("-") else refused.format(magic=parser.prog, word=word)
        )
    return given


def magic_of(make: Callable[[], Parser], run: Callable[..., object]) -> Callable[[Any], Callable[..., object]]:
    """Return what makes a magic for a session: its line parsed, its help shown, and a value that an option cannot take
    refused in one sentence.

    Args:
        make: its parser, whose ``prog`` is its name.
        run: what it does in the session with the options that its line gives; of a cell magic, and with the cell.
    """

    def of_session(session: Any) -> Callable[..., object]:
        def magic(line: str, *cell: str) -> object:
            parser = make()
            given = vars(parse_line(parser, line))
            if given.pop("help", False):
                print(help_of(make))
                return None
            try:
                return run(session, given, *cell)
            except OptionError as error:
                raise UsageError(f"{parser.prog}: {error}") from None

        magic.__doc__ = help_of(make)
        return magic

    return of_session


def numbered(word: str) -> int | None:
    """Return the number of a cell, as ``7`` or ``In[7]``; None of any other word."""
    number = re.fullmatch(r"(?:In\[)?(\d+)\]?", word)
    return int(number[1]) if number is not None else None


def cell_asked(given: dict[str, Any], magic: str) -> int | None:
    """Return the number of the cell that a line magic is asked about, taken out of what was given; None where none is.

    Raises:
        UsageError: the word is no number.
    """
    word = given.pop("cell", None)
    number = numbered(word) if word is not None else None
    if word is not None and number is None:
        text = _("{magic} takes the number of a cell, such as `{magic} 7`, not {word!r}.")
        raise UsageError(text.format(magic=magic, word=word))
    return number


def _split(line: str) -> list[str]:
    """Words as a shell has them, except that a backslash is a character of a Windows path."""
    lexer = shlex.shlex(line, posix=True)
    lexer.whitespace_split = True
    lexer.commenters = lexer.escape = ""
    return list(lexer)


def _unknown(parser: Parser, word: str) -> str:
    flag = word.split("=")[0]
    known = [name for action in parser._actions for name in action.option_strings]
    near = difflib.get_close_matches(flag, known, n=1)
    text = (
        _("{magic} has no option {flag}; did you mean {near}?")
        if near
        else _("{magic} has no option {flag}; there are {flags}.")
    )
    return text.format(magic=parser.prog, flag=flag, near=near[0] if near else "", flags=", ".join(known))
