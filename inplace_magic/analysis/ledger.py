"""Who touched which memory, in which order, and by which names: the ledger of one trace.

``kept.append(x)``, ``x += 1`` and ``torch.stack(kept)`` are a read, a write and a read of one memory. The write went by
the name `x`, the second read by the name `kept`. Whoever asks whether a second holder sees a write asks this ledger.

What asks for a shape, a dtype or a tensor like another one (``size``, ``len``, ``zeros_like``) takes no values: it is
no touch.
"""

from __future__ import annotations

import ast
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Literal

from inplace_magic.analysis.overlap import may_meet, reach_of_write, region_of
from inplace_magic.analysis.story import Story
from inplace_magic.record.events import CallEvent, Mutation, Region
from inplace_magic.record.places import Callsite
from inplace_magic.source import expressions
from inplace_magic.source.chains import argument_for, paths_in
from inplace_magic.source.expressions import operands_given

_AT = attrgetter("at")
_MOST = 512
"""Touches of one memory after a write among which a read is looked for."""


@dataclass(frozen=True, slots=True)
class Name:
    """A name by which a line says a tensor."""

    path: str
    """``x``, ``self.total``, ``kept[0]``."""
    site: Callsite
    """The line."""

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for two names of one holder: a variable of one function, an attribute of one class."""
        root, dot, rest = self.path.partition(".")
        if dot and root in self.site.parameters[:1]:
            return self.site.function.rpartition(".")[0], self.site.file, self.site.cell, rest
        return self.site.function, self.site.file, self.site.cell, self.path


@dataclass(frozen=True, slots=True)
class Touch:
    """A read or a write of a memory."""

    at: int
    kind: Literal["read", "write"]
    storage: int
    tensor: int | None
    """By way of which tensor; None for a write from outside the framework, as by NumPy."""
    region: Region | None
    """Its elements; None: unknown."""
    site: Callsite | None
    call: CallEvent | None
    """None for a write from outside."""
    mutation: Mutation | None = None
    """What a call wrote."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A write that is read by another name than the one by which it was made."""

    write: Touch
    read: Touch
    holder: Name
    """By which it is read."""
    since: int
    """Index of the call from which on that name was known to stand for the memory."""


@dataclass(frozen=True)
class Ledger:
    """The touches of a trace, by memory."""

    story: Story
    _touches: dict[int, list[Touch]] = field(default_factory=dict, compare=False, repr=False)
    _names: dict[tuple[int, int], tuple[Name, ...]] = field(default_factory=dict, compare=False, repr=False)

    def of(self, storage: int) -> list[Touch]:
        """Return the touches of a memory, oldest first; a call that reads what it writes is a write."""
        if storage not in self._touches:
            seen = self.story.writes_to_storage.get(storage, ())
            writes = {(call.index, m.tensor): (call, m) for call, m in seen if call.error is None}
            found = [
                Touch(call.index, "write", storage, m.tensor, reach_of_write(call, m), call.callsite, call, m)
                for call, m in writes.values()
            ]
            for foreign in self.story.foreign_writes.get(storage, ()):
                found.append(Touch(foreign.noticed, "write", storage, None, None, foreign.callsite, None))
            for call in self.story.given_memory(storage):
                if call.error is not None or call.kind == "metadata" or not call.looks_at_values:
                    continue
                for meta in call.inputs:
                    if meta.storage == storage and (call.index, meta.tensor) not in writes:
                        found.append(
                            Touch(call.index, "read", storage, meta.tensor, region_of(meta), call.callsite, call)
                        )
            self._touches[storage] = sorted(found, key=_AT)
        return self._touches[storage]

    @property
    def written(self) -> Iterator[int]:
        """The memories that were written."""
        return iter(dict.fromkeys((*self.story.writes_to_storage, *self.story.foreign_writes)))

    def writes(self, storage: int) -> list[Touch]:
        """Return the writes of a memory, oldest first."""
        return [touch for touch in self.of(storage) if touch.kind == "write"]

    def names(self, touch: Touch) -> tuple[Name, ...]:
        """What the line of a touch calls the tensor, then what each caller that handed it on calls it; empty where the
        lines have no name for it."""
        if touch.tensor is None or touch.call is None:
            return ()
        key = touch.at, touch.tensor
        if key not in self._names:
            self._names[key] = tuple(self._names_at(touch, touch.call, touch.tensor))
        return self._names[key]

    def _names_at(self, touch: Touch, call: CallEvent, tensor: int) -> Iterator[Name]:
        site, bindings = touch.site, self.story.bindings
        path = self._path_at(touch, call, tensor)
        while site is not None and path is None:  # a module or a library wrote inside the line
            site = site.caller
            path = self._handed(site, touch) if site is not None else None
        while site is not None and path is not None:
            yield Name(path, site)
            root, dot, rest = path.partition(".")
            if site.caller is None or root not in site.parameters or root in ("self", "cls"):
                return
            argument = argument_for(site, root)
            if argument is None:
                return
            outer = expressions.path_text(expressions.without_aliasing(argument, bindings.view_texts))
            path, site = (f"{outer}{dot}{rest}" if outer is not None else None), site.caller

    def _path_at(self, touch: Touch, call: CallEvent, tensor: int) -> str | None:
        """Return the variable of the line itself, by the place that the tensor has among the operands."""
        if touch.kind == "write":
            return self.story.bindings.written_path(call, tensor)
        site = touch.site
        if site is None:
            return None
        if not site.direct:
            return self._handed(site, touch)
        pairs = operands_given(call)
        if pairs is not None:
            nodes = [next(node for meta, node in pairs if meta.tensor == tensor)]
        else:
            nodes = expressions.operands(site.expression, method=call.does("method"))
        paths = (expressions.path_text(self._plain(node)) for node in nodes)
        found = list(dict.fromkeys(path for path in paths if path is not None))
        return found[0] if len(found) == 1 else None

    def _plain(self, node: ast.expr) -> ast.expr:
        """Without an index: ``kept`` of ``kept[i]``, which may be any entry."""
        node = expressions.without_aliasing(node, self.story.bindings.view_texts)
        while isinstance(node, ast.Subscript) and expressions.path_text(node) is None:
            node = node.value
        return node

    def _handed(self, site: Callsite, touch: Touch) -> str | None:
        """Return the one argument of a line that is known to be the tensor."""
        paths = [path for path in paths_in(site.expression) if self._stands_for(site, path, touch)]
        return max(sorted(paths), key=len, default=None)

    def _stands_for(self, site: Callsite, path: str, touch: Touch) -> bool:
        held = self.story.bindings.stood_for(site, path, touch.at)
        meta = self.story.observations.get(held) if held is not None else None
        return meta is not None and meta.storage == touch.storage

    def next_reads(self, write: Touch) -> Iterator[Touch]:
        """Yield the reads of written elements after a write, oldest first."""
        touches = self.of(write.storage)
        first = bisect_right(touches, write.at, key=_AT)
        for touch in touches[first : first + _MOST]:
            if touch.kind == "read" and may_meet(touch.region, write.region):
                yield touch

    def seen_by_another(self, write: Touch) -> Seen | None:
        """Return the first read after a write by a name that stood for the memory before, and by which nobody wrote
        here."""
        mine = {name.key for name in self.names(write)}
        for read in self.next_reads(write):
            if read.site is None or _is_one_statement(read, write):
                continue
            names = self.names(read)
            if not names or not mine.isdisjoint(name.key for name in names):
                continue
            since = self._since(names[0], write, read)
            if since is not None:
                return Seen(write, read, names[0], since)
        return None

    def _since(self, name: Name, write: Touch, read: Touch) -> int | None:
        """From when on a name stood for the memory, where that was before a write; None where it got it afterwards."""
        bound = self.story.bindings.bound_last(name.site.function, name.path, read.at)
        if bound is not None:
            return bound[0] if bound[0] < write.at else None
        first = self.story.first_seen(read.tensor) if read.tensor is not None else read.at
        return first if first <= write.at else None


def _is_one_statement(one: Touch, other: Touch) -> bool:
    return one.site is not None and one.site.same_statement(other.site)
