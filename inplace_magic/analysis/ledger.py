"""Who calls a memory what, who wrote it, and who reads it after that by another name: the ledger of a trace.

``kept.append(x)``, ``x += 1`` and ``torch.stack(kept)`` are a read, a write and a read of one memory. The write went by
the name `x`, the second read by the name `kept`. Whoever asks whether a second holder sees a write asks here.

What asks for a shape, a dtype or a tensor like another one (``size``, ``len``, ``zeros_like``) takes no values: it is
no read.
"""

from __future__ import annotations

import ast
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from inplace_magic.analysis.accesses import Write
from inplace_magic.analysis.overlap import may_meet, region_of
from inplace_magic.analysis.story import Story
from inplace_magic.record.events import CallEvent, Mutation, TensorMetadata
from inplace_magic.record.places import Callsite
from inplace_magic.source import expressions
from inplace_magic.source.chains import argument_for, paths_in
from inplace_magic.source.expressions import operands_given

_MOST = 512
"""Reads after a write that are looked at."""


@dataclass(frozen=True, slots=True)
class Owned:
    """A read or write of a tensor, seen from a function that has a name for it."""

    path: str
    """``x``, ``self.total``, ``kept[0]``."""
    site: Callsite
    """The place in that function: the read or write itself, or the call of the helper or module that made it."""

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for two names of one holder: a variable of one function, an attribute of one class."""
        root, dot, rest = self.path.partition(".")
        if dot and root in self.site.parameters[:1]:
            return self.site.function.rpartition(".")[0], self.site.file, self.site.cell, rest
        return self.site.function, self.site.file, self.site.cell, self.path


def owners_of(story: Story, call: CallEvent, mutation: Mutation) -> list[Owned]:
    """Return the written tensor's name in each function that handed it on, outermost first. In ``y = block(x)`` with
    ``def forward(self, x): return x + self.body(x)`` both names are `x`, and only the inner one is read again."""
    path = story.bindings.written_path(call, mutation.tensor)
    return [*_handed_on(story, path, call.callsite, mutation.tensor, call.index)][::-1]


def _handed_on(story: Story, path: str | None, site: Callsite | None, tensor: int, before: int) -> Iterator[Owned]:
    """Yield the name of a tensor in a line, then that of each caller which handed it on."""
    while path is not None and site is not None:
        owned = Owned(path, site)
        yield owned
        path, site = _argument_for(story, owned, tensor, before), site.caller


def _argument_for(story: Story, owned: Owned, tensor: int, before: int) -> str | None:
    """Return the caller's name for a parameter that still stands for what it was given; None for other names."""
    path, site = owned.path, owned.site
    if path not in site.parameters or path in ("self", "cls") or site.caller is None:
        return None
    bound = story.bindings.scopes.get((site.function, path), ())
    if any(at < before and held not in story.calls[at].gave_back for at, held in bound):
        return None  # bound anew, and not as ``x = x.float()`` does where `x` has that dtype
    argument = argument_for(site, path)
    if argument is None:
        return None
    outer = expressions.path_text(expressions.without_aliasing(argument, story.bindings.view_texts))
    return outer if outer and story.bindings.is_handed_by(site.caller, outer, tensor) else None


@dataclass(frozen=True, eq=False)
class Touch:
    """A tensor that a call read or wrote."""

    story: Story
    call: CallEvent
    tensor: int
    storage: int

    @cached_property
    def names(self) -> tuple[Owned, ...]:
        """What the line calls the tensor, then what each caller that handed it on calls it; empty where no line has a
        name for it."""
        site, path = self.call.callsite, self._path
        while site is not None and path is None:  # a module or a library did it inside the line
            site = site.caller
            path = self._handed(site) if site is not None else None
        return tuple(_handed_on(self.story, path, site, self.tensor, self.call.index))

    @property
    def _path(self) -> str | None:
        """The variable of the line itself, by the place that the tensor has among the operands."""
        call, site = self.call, self.call.callsite
        if any(mutation.tensor == self.tensor for mutation in call.mutations):
            return self.story.bindings.written_path(call, self.tensor)
        if site is None or not site.direct:
            return self._handed(site) if site is not None else None
        pairs = operands_given(call)
        if pairs is not None:
            nodes = [next(node for meta, node in pairs if meta.tensor == self.tensor)]
        else:
            nodes = expressions.operands(site.expression, method=call.does("method"))
        found = {expressions.path_text(self._plain(node)) for node in nodes} - {None}
        return found.pop() if len(found) == 1 else None

    def _plain(self, node: ast.expr) -> ast.expr:
        """Without an index: ``kept`` of ``kept[i]``, which may be any entry."""
        node = expressions.without_aliasing(node, self.story.bindings.view_texts)
        while isinstance(node, ast.Subscript) and expressions.path_text(node) is None:
            node = node.value
        return node

    def _handed(self, site: Callsite) -> str | None:
        """Return the one argument of a line that is known to be the tensor."""
        paths = [path for path in paths_in(site.expression) if self._stands_for(site, path)]
        return max(sorted(paths), key=len, default=None)

    def _stands_for(self, site: Callsite, path: str) -> bool:
        held = self.story.bindings.stood_for(site, path, self.call.index)
        meta = self.story.observations.get(held) if held is not None else None
        return meta is not None and meta.storage == self.storage


@dataclass(frozen=True, slots=True)
class Seen:
    """A read by another name than the one by which a write was made."""

    read: CallEvent
    holder: Owned
    """By which it is read."""
    since: int
    """Index of the call from which on that name was known to stand for the memory."""


@dataclass(frozen=True)
class Ledger:
    """The writes and reads of one memory."""

    story: Story
    storage: int

    @cached_property
    def writes(self) -> Sequence[Write]:
        """The writes of calls, and those from outside the framework, oldest first."""
        every = self.story.writes_to_memory(self.storage)
        return [w for w in every if (w.call.error is None if w.call else w.at not in self.story.backwards)]

    @cached_property
    def _reads(self) -> list[tuple[int, TensorMetadata, Touch]]:
        written = {(w.at, w.mutation.tensor) for w in self.writes if w.mutation is not None}
        return [
            (call.index, meta, Touch(self.story, call, meta.tensor, self.storage))
            for call in self.story.given_memory(self.storage)
            if call.error is None and call.kind != "metadata" and call.looks_at_values
            for meta in call.inputs
            if meta.storage == self.storage and (call.index, meta.tensor) not in written
        ]

    def names(self, write: Write) -> tuple[Owned, ...]:
        """Return what the line of a write and its callers call the tensor; nothing of a write from outside."""
        if write.call is None or write.mutation is None:
            return ()
        return Touch(self.story, write.call, write.mutation.tensor, self.storage).names

    def seen_by_another(self, write: Write) -> Seen | None:
        """Return the first read of written elements by a name that stood for the memory before, and by which nobody
        wrote here."""
        mine = {name.key for name in self.names(write)}
        first = bisect_right(self._reads, write.at, key=lambda read: read[0])
        for index, meta, read in self._reads[first : first + _MOST]:
            site = read.call.callsite
            beside = site is None or (write.site is not None and write.site.same_statement(site))
            if beside or not may_meet(region_of(meta), write.reach):
                continue
            if read.names and mine.isdisjoint(name.key for name in read.names):
                since = self._since(read.names[0], write.at, meta.tensor, index)
                if since is not None:
                    return Seen(read.call, read.names[0], since)
        return None

    def _since(self, name: Owned, wrote: int, tensor: int, read: int) -> int | None:
        """From when on a name stood for the memory, where that was before a write; None where it got it afterwards."""
        bound = self.story.bindings.bound_last(name.site.function, name.path, read)
        if bound is not None:
            return bound[0] if bound[0] < wrote else None
        first = self.story.first_seen(tensor)
        return first if first <= wrote else None
