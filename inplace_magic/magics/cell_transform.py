"""The text side of ``%%inplace_watch``: one line of the cell becomes one Python call, every other line stays as it is.

IPython hands a cell's lines to its input transformers before it looks for magics. :class:`WatchLine` stands first among
them. A cell like ::

    %%inplace_watch --level ops          __import__("inplace_magic").magics.begin(get_ipython(), '--level ops', '5f2c…')
    y = torch.sigmoid(x)            ->   y = torch.sigmoid(x)
    y.mul_(2)                            y.mul_(2)

goes through IPython as an ordinary cell. So line numbers in tracebacks are the gutter's, and top-level ``await``, the
last value, ``%magics`` and multi-line strings just work. The usual cell magic, which runs its body by a nested
``run_cell``, hides the failure of the cell; a template around the body changes its strings.
"""

from __future__ import annotations

import hashlib
import re
import tokenize
from collections.abc import Sequence

from IPython.core.inputtransformer2 import make_tokens_by_line

from inplace_magic.language import _, together

MAGIC = "%%inplace_watch"
MODULE = '__import__("inplace_magic").magics'
KEPT_SOURCES = 16
_CALL = re.compile(re.escape(f"{MODULE}.begin(get_ipython(), ") + r".*'([0-9a-f]{8})'\)")
_MAGIC_LINE = re.compile(r"([ \t]*)%%inplace_watch(?:[ \t]+(.*?))?[ \t]*\Z")
_HELP_ALONE = re.compile(r"\s*%(%inplace_compare[ \t]+(?:-h|--help))\s*")
"""Of a cell magic without a cell, which IPython refuses; the line magic of that name has the same help."""
_CELL_MAGIC = re.compile(r"%%[^\s%?]+")


class WatchLine:
    """An input transformer for ``shell.input_transformers_cleanup``.

    IPython and ipykernel transform one cell several times, so equal lines always give equal lines. This object stores
    the typed text of the cells that it rewrote: IPython stores only the transformed text, and the raw text of
    ``pre_run_cell`` begins elsewhere below another cell magic (``%%time``).
    """

    # IPython leaves such transformers out when it asks whether a cell typed in a terminal is complete. It must: on the
    # rewritten line the cell would count as complete after `%%inplace_watch`, and run before its code could be typed.
    has_side_effects = True

    def __init__(self) -> None:
        self._sources: dict[str, str] = {}

    def __call__(self, lines: list[str]) -> list[str]:
        """Return the cell with its ``%%inplace_watch`` line replaced; a cell without one comes back as it is."""
        source = "".join(lines)
        if MAGIC not in source:
            alone = _HELP_ALONE.fullmatch(source)
            return lines if alone is None else [f"{alone[1]}\n"]
        key = hashlib.sha256(source.encode("utf-8", "surrogatepass")).hexdigest()[:8]
        rewritten = rewrite(lines, key)
        if rewritten is not lines:
            self._sources.pop(key, None)
            self._sources[key] = source
            for oldest in tuple(self._sources)[:-KEPT_SOURCES]:
                del self._sources[oldest]
        return rewritten

    def source(self, key: str) -> str | None:
        """Return the typed text of a recently rewritten cell; None if it is no longer stored."""
        return self._sources.get(key)

    def typed(self, line: str) -> str | None:
        """Return the typed line that became this call in a recently rewritten cell; None for any other line."""
        call = _CALL.search(line)
        lines = self._sources.get(call[1], "").splitlines() if call is not None else []
        first = _first_code_line(lines)
        return None if first is None else lines[first].strip()


def rewrite(lines: list[str], key: str) -> list[str]:
    """Return the lines with the call in place of the magic; `lines` itself when the cell is none of ours.

    A cell that cannot be watched becomes a call that fails with one sentence, so that nothing of it runs half-way or
    unwatched.
    """
    first = _first_code_line(lines)
    if first is None:
        return lines
    match = _MAGIC_LINE.match(lines[first].rstrip("\r\n"))
    if match is None:
        return _rewrite_misplaced(lines, first)
    indent, options = match[1], match[2] or ""
    body = ["\n"] * (first + 1) + lines[first + 1 :]
    empty = _first_code_line(body) is None
    if {"-h", "--help"} & set(options.split()):
        return _only(lines, first, indent, f"{MODULE}.explain({not empty})")
    problem = _problem(first, _cell_magics(body), empty)
    if problem:
        return _only(lines, first, indent, f"{MODULE}.refuse({problem!r})")
    call = f"{MODULE}.begin(get_ipython(), {options!r}, {key!r})"
    return _put(lines[:first], first, indent, call, lines[first]) + lines[first + 1 :]


def _rewrite_misplaced(lines: list[str], first: int) -> list[str]:
    if lines[first].lstrip().startswith("%%"):
        return lines  # another magic's body is its own: a file to write, a script, or code that it will transform again
    misplaced = [row for row, name in _cell_magics(lines) if name == MAGIC]
    if not misplaced:
        return lines
    line = misplaced[0] + 1
    problem = _(
        "`{magic}` stands on line {line}; it must be the first line of the cell. Nothing of the cell was run."
    ).format(magic=MAGIC, line=line)
    return _only(lines, misplaced[0], "", f"{MODULE}.refuse({problem!r})")


def _problem(first: int, below: Sequence[tuple[int, str]], empty: bool) -> str | None:
    if any(name == MAGIC for _row, name in below):
        rows = [first, *(row for row, name in below if name == MAGIC)]
        text = _("`{magic}` stands in this cell more than once, on lines {lines}. Keep one, with all options on it.")
        return text.format(magic=MAGIC, lines=together([str(row + 1) for row in rows]))
    if below:
        row, name = below[0]
        return _(
            "`{name}` on line {line} stands below `{magic}`, where IPython cannot run it. Put `{name}` on the first "
            "line and `{magic}` right below it, or move `{name}` to a cell of its own."
        ).format(name=name, line=row + 1, magic=MAGIC)
    if empty:
        sentence = _("There is no code below `{magic}`. Put the code to watch into the same cell, below that line.")
        return sentence.format(magic=MAGIC)
    return None


def _first_code_line(lines: Sequence[str]) -> int | None:
    """Return the index of the first line that is neither blank nor a comment."""
    for index, line in enumerate(lines):
        text = line.strip()
        if text and not text.startswith("#"):
            return index
    return None


def _cell_magics(lines: list[str]) -> list[tuple[int, str]]:
    """Index and name of each line where a statement would begin with ``%%name``; text inside strings does not count."""
    if not any(line.lstrip().startswith("%%") for line in lines):
        return []
    try:
        tokens_by_line = make_tokens_by_line(lines)
    except SyntaxError:
        return []  # IPython will show it, with the line
    found = []
    for tokens in tokens_by_line:
        start = next((token for token in tokens if token.type not in (tokenize.INDENT, tokenize.DEDENT)), None)
        if start is None or start.start[0] > len(lines):
            continue
        row = start.start[0] - 1
        match = _CELL_MAGIC.match(lines[row][start.start[1] :])
        if match:
            found.append((row, match[0]))
    return found


def _put(before: Sequence[str], row: int, indent: str, call: str, replaced: str) -> list[str]:
    """Return the lines up to `row`, with the call on it.

    IPython drops a cell's leading blank lines and counts from the rest. If there are any, the call goes to the first of
    them, so that IPython drops nothing and the numbers remain the gutter's.
    """
    ending = replaced[len(replaced.rstrip("\r\n")) :] or "\n"
    statement = indent + call + ending
    if before and not before[0].strip():
        return [statement, *before[1:], ending]
    return [*before, statement]


def _only(lines: Sequence[str], row: int, indent: str, call: str) -> list[str]:
    """Return the call alone, on its line."""
    return _put(["\n"] * row, row, indent, call, lines[row])
