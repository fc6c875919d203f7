"""Places in the user's own code."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from operator import attrgetter

from inplace_magic.language import _
from inplace_magic.record.paths import is_some_entry

_MOST_CHARACTERS = 70
"""Of code within a sentence."""
Whose = tuple[int | None, str | None, str]
"""Cell, file, and qualified name of a function; ``<module>`` outside functions."""


class InFunction:
    """Something in the text of one function."""

    __slots__ = ()
    cell: int | None
    file: str | None
    function: str

    @property
    def whose(self) -> Whose:
        """The function that it belongs to."""
        return self.cell, self.file, self.function


class _Hashed:
    """A slot for a cached hash: no field, so it is neither compared, copied nor saved."""

    __slots__ = ("_hash",)
    _hash: int


_COMPREHENSIONS = frozenset(("<listcomp>", "<setcomp>", "<dictcomp>"))


@dataclass(frozen=True, slots=True)
class Callsite(_Hashed, InFunction):
    """A place in the user's own code, and through ``caller`` the chain of the user's own places that led to it."""

    line: int
    """Line in the notebook's gutter (the magic line is line 1), or in the file; 0 if unknown."""
    text: str = ""
    """The source line, without indentation."""
    cell: int | None = None
    """Execution count of the line's cell; None outside a notebook."""
    file: str | None = None
    """Path of the source file, None for a cell."""
    function: str = "<module>"
    caller: Callsite | None = None
    end_line: int | None = None
    column: int | None = None
    end_column: int | None = None
    expression: str = ""
    """Source of the expression that made the call, e.g. ``probs.mul_(2)``; empty if unknown."""
    statement: str = ""
    """Source of the innermost simple statement around it; empty if unknown."""
    direct: bool = True
    """False when library code between this line and torch made the call, e.g. an ``nn.Module``."""
    parameters: tuple[str, ...] = ()
    """Names of the parameters of the function that holds the line."""
    shared_defaults: tuple[str, ...] = ()
    """Those with one default object for all calls, which the function never binds again."""
    outdated: bool = False
    """The file was changed after its code was loaded: `line` is that of the older version, whose text is unknown."""
    targets: tuple[str | None, ...] | None = None
    """Where the statement puts the value of the expression: a name, a path such as ``self.memory``, ``kept[]`` for an
    entry of a container, ``return``; several for an unpacking, with None for a target without a name. None if the
    statement does something else with the value, or the text is unknown."""
    indent: str = ""
    """The white space before the statement, if `column` does not show it: it has tabs, or stands on an earlier line."""

    def __hash__(self) -> int:
        # Of what tells places apart, and not of all their text: sites are looked up several times for each call. The
        # cell is a part of it: in a story of twenty cells of one text, each look would else compare with twenty. So is
        # the whole chain: in a recursion each level would else be compared with all others, and that up to the top.
        try:
            return self._hash
        except AttributeError:
            place = self.line, self.column, self.end_column, self.function, self.cell, self.file
            known = hash((*place, self.caller))
            object.__setattr__(self, "_hash", known)
            return known

    def __eq__(self, other: object) -> bool:
        # As a dataclass has it, but most comparisons are of a place with itself, or end at what tells places apart.
        if self is other:
            return True
        if not isinstance(other, Callsite):
            return NotImplemented
        return hash(self) == hash(other) and _all_of(self) == _all_of(other)

    @property
    def bound(self) -> tuple[str | None, ...] | None:
        """The variables, attributes and items that the statement binds to the value; None if there are none."""
        others = self.targets is None or any(path == "return" or is_some_entry(path or "") for path in self.targets)
        return None if others else self.targets

    @property
    def chain(self) -> tuple[Callsite, ...]:
        """The chain of callers, the outermost first, and this place last."""
        found = []
        site: Callsite | None = self
        while site is not None:
            found.append(site)
            site = site.caller
        return tuple(reversed(found))

    @property
    def handed_to(self) -> Callsite | None:
        """The place that receives the value: this one, or the call through which functions returned it."""
        site: Callsite | None = self
        while site is not None and site.targets == ("return",):
            site = site.caller
        return site

    @property
    def outermost(self) -> Callsite:
        """The first place of :attr:`chain`."""
        site = self
        while site.caller is not None:
            site = site.caller
        return site

    @property
    def around(self) -> Callsite:
        """The place around a list, set or dict comprehension, which Python before 3.12 runs as a function; otherwise
        this one."""
        site = self
        while site.caller is not None and site.function.rsplit(".", 1)[-1] in _COMPREHENSIONS:
            site = site.caller
        return site

    def same_function(self, other: Callsite | None) -> bool:
        """True if both lie in one function, or both outside any function of one cell or file."""
        return other is not None and (self.function, self.cell, self.file) == (other.function, other.cell, other.file)

    def same_line(self, other: Callsite | None) -> bool:
        """True if both lie on one line, with any callers."""
        return other is not None and self.line == other.line and self.same_function(other)

    def same_run(self, other: Callsite | None) -> bool:
        """True if both lie in one function with the same chain of callers: in one run of it, or in runs started by one
        line, as in a loop."""
        return other is not None and self.same_function(other) and self.caller == other.caller

    def is_below(self, other: Callsite | None) -> bool:
        """True if this place, or one of its callers, lies in the same run of a function as another place."""
        return any(place.same_run(other) for place in self.chain)

    def is_below_function(self, other: Callsite | None) -> bool:
        """True if this place, or one of its callers, lies in the same function as another place."""
        return any(place.same_function(other) for place in self.chain)

    def same_statement(self, other: Callsite | None) -> bool:
        """True if both lie in one statement, with the same chain of callers."""
        return (
            other is not None and (self.line, self.statement) == (other.line, other.statement) and self.same_run(other)
        )

    @property
    def holder(self) -> str:
        """``Cell In[7]``, ``model.py`` or ``cell Hbol`` (marimo); empty for a watched block in neither."""
        if self.cell is not None:
            return f"Cell In[{self.cell}]"
        return "" if self.file is None else source_name(self.file)

    @property
    def place(self) -> str:
        """``Cell In[7], line 4``, ``model.py:31`` or ``cell Hbol, line 2`` (marimo), for readers."""
        if self.cell is not None:
            return f"{self.holder}, line {self.line}"
        if self.file is None:
            return f"line {self.line}"
        if self.holder != _last_part(self.file):
            return _("{cell}, line {line}").format(cell=self.holder, line=self.line)
        if self.outdated:
            return _("line {line} of an older version of {file}").format(line=self.line, file=self.holder)
        return f"{self.holder}:{self.line}"


def source_name(file: str) -> str:
    """``model.py``; ``cell Hbol`` for a marimo cell, which is compiled to its own file."""
    name = _last_part(file)
    cell = _OF_MARIMO.fullmatch(name)
    return name if cell is None else _("cell {name}").format(name=cell[1])


_OF_MARIMO = re.compile(r"__marimo__cell_(.+?)_\.py")


def _last_part(file: str) -> str:
    return file.replace("\\", "/").rsplit("/", 1)[-1]


def code(text: str) -> str:
    """Source for use within a sentence: on one line, not too long, in backticks."""
    line = re.sub(r"\s+", " ", text).strip()
    if not line:
        return _("code whose source is not there")
    return f"`{line if len(line) <= _MOST_CHARACTERS else line[: _MOST_CHARACTERS - 1] + '…'}`"


def line_of(site: Callsite | None) -> str:
    """Return the line's code; its place where the code is not known, as after ``python -c``."""
    if site is None:
        return _("an unknown line")
    text = site.statement or site.text
    return code(text) if text.strip() else site.place


def where_they_part(*chains: tuple[Callsite, ...]) -> list[Callsite]:
    """For several :attr:`~Callsite.chain`, return the places in the innermost function that all reached by the same
    lines."""
    level = 0
    while level + 1 < min(map(len, chains)):
        here, inside = zip(*(chain[level : level + 2] for chain in chains), strict=True)
        if not all(here[0].same_line(site) for site in here) or not all(inside[0].same_function(s) for s in inside):
            break
        level += 1
    return [chain[level] for chain in chains]


_all_of = attrgetter(*(field.name for field in fields(Callsite)))
