"""One tensor was handed to a function for two of its parameters; it was written by the one and then read by the
other."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import takewhile

from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Hazard, finding
from inplace_magic.hazards.fixes.inplace_false import advice, flag_turned_off
from inplace_magic.hazards.fixes.new_tensor import bound_anew, value_given
from inplace_magic.hazards.rule import Cures, Rule
from inplace_magic.language import _
from inplace_magic.record.events import CallEvent, Mutation, TensorMetadata
from inplace_magic.record.places import Callsite
from inplace_magic.source import expressions
from inplace_magic.source.chains import level, paths_read
from inplace_magic.source.vocabulary import WITHOUT_VALUES

CODE = "parameters-share-memory"


_Elements = tuple[int | None, int | None, int | None, str]
"""A memory, where a tensor begins in it, how many bytes it takes, and as what they are read."""


@dataclass(frozen=True)
class _Wholes:
    """The tensors that are all of the same elements. A loop makes another one in each pass (``u.detach()``), so they
    and the lines that read them are listed once for each memory that is asked for, and not for each write."""

    story: Story
    _on: dict[int, dict[_Elements, list[int]]] = field(default_factory=dict)
    _read_at: dict[_Elements, set[Callsite]] = field(default_factory=dict)

    def that_are_read(self, mutation: Mutation, site: Callsite, name: str) -> list[int]:
        """The written tensor, and others that are all of it, ``u.detach()`` and ``u.view(3)``, where a line of the
        function below the write reads one of them and says that name: only such a line can read them by it."""
        written = self.story.observations.get(mutation.tensor)
        if written is None or written.storage is None:
            return [mutation.tensor]
        elements = _elements(written.storage, written)
        tensors = self._tensors(written.storage).get(elements, ())
        below = (place for place in self._places(elements, tensors) if place.same_function(site))
        if not any(name in place.expression and _is_below(place, site) for place in below):
            return [mutation.tensor]
        return [mutation.tensor, *(t for t in tensors if t != mutation.tensor)]

    def _tensors(self, storage: int) -> dict[_Elements, list[int]]:
        if storage not in self._on:
            found: dict[_Elements, list[int]] = {}
            self._on[storage] = found
            for tensor in self.story.bindings.by_storage.get(storage, ()):
                found.setdefault(_elements(storage, self.story.observations[tensor]), []).append(tensor)
        return self._on[storage]

    def _places(self, elements: _Elements, tensors: Iterable[int]) -> set[Callsite]:
        if elements not in self._read_at:
            reading = self.story.places_that_read
            self._read_at[elements] = {place for t in tensors for place in reading(t) if place is not None}
        return self._read_at[elements]


def _elements(storage: int | None, meta: TensorMetadata) -> _Elements:
    return storage, meta.offset, meta.nbytes, meta.dtype


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each place of such a write."""
    seen, wholes = set(), _Wholes(story)
    for call in story.in_place:
        site = call.callsite
        if call.error is not None or site is None or site.caller is None or site in seen:
            continue
        for mutation in call.mutations:
            found = next(_read_by_another(story, wholes, call, mutation), None)
            if found is not None:
                seen.add(site)
                yield found
                break


def _read_by_another(story: Story, wholes: _Wholes, call: CallEvent, mutation: Mutation) -> Iterator[Hazard]:
    """The findings on a write, in the function that wrote and in those that handed the tensor on to it."""
    site, path = call.callsite, story.bindings.written_path(call, mutation.tensor)
    while site is not None and site.caller is not None and path in site.parameters:
        argument = expressions.parameter_argument(site.caller.expression, site.parameters, path)
        given = expressions.path_text(argument) or ""
        bound = _bound_before(story, site, path, call.index)
        if any(tensor != mutation.tensor for tensor in bound) or not story.bindings.is_handed_by(
            site.caller, given, mutation.tensor
        ):
            return  # the function has given the name to a tensor of its own
        for other in site.parameters:
            read = _reading(story, wholes, call, mutation, site, path, other) if other != path else None
            if read is not None:
                yield _hazard(story, call, mutation, site, path, other, read)
        path, site = given, site.caller


def _bound_before(story: Story, site: Callsite, name: str, index: int) -> Iterator[int]:
    """The tensors that a name was bound to before a call, oldest first."""
    bound = story.bindings.scopes.get((site.function, name), ())
    return (tensor for _at, tensor in takewhile(lambda entry: entry[0] < index, bound))


def _is_bound(story: Story, site: Callsite, name: str, index: int) -> bool:
    return next(_bound_before(story, site, name, index), None) is not None


def _reading(
    story: Story, wholes: _Wholes, call: CallEvent, mutation: Mutation, site: Callsite, path: str, other: str
) -> CallEvent | None:
    """The first call below the write, in the same run of the function, that read the tensor as another parameter."""
    if site.caller is None or any(alias.target == other for alias in story.aliases.beside(site)):
        return None
    if _is_bound(story, site, other, call.index):
        return None
    one_name = _is_given_once(site.caller, site.parameters, path, other)
    tensors = wholes.that_are_read(mutation, site, other)
    reading = (level(place, site) for tensor in tensors for place in story.places_that_read(tensor))
    if not any(at is not None and other in at.expression for at in reading):
        return None  # asked of the few places, and not of thousands of reads in a loop
    for tensor in tensors:
        for read in story.readers(tensor, call.index, lambda place: _is_below(place, site)):
            at = level(read.callsite, site)
            if at is None or _writes(story, mutation, at, read.index) or _is_bound(story, site, other, read.index):
                return None  # a write of its own: it is meant to go on from there
            exactly = _names_of(read, tensor) if at == read.callsite else None
            told = one_name and tensor == mutation.tensor and _says_the_values_of(at, other)
            if other in (exactly if exactly is not None else paths_read(read.callsite, site) if told else ()):
                return read
    return None


def _writes(story: Story, mutation: Mutation, at: Callsite, index: int) -> bool:
    """Whether a line writes the memory itself, from a call of it on."""
    last = story.last_writes(mutation.storage).get((at.function, at.cell, at.file, at.line))
    return last is not None and last >= index


def _says_the_values_of(site: Callsite, name: str) -> bool:
    """Whether an expression says a variable for more than its shape and the like."""
    node = expressions.parse(site.expression)
    inner = list(ast.walk(node)) if node is not None else []
    facts = {each.value for each in inner if isinstance(each, ast.Attribute) and each.attr in WITHOUT_VALUES}
    return any(isinstance(each, ast.Name) and each.id == name and each not in facts for each in inner)


def _is_below(place: Callsite | None, site: Callsite) -> bool:
    at = level(place, site)
    return at is not None and at.same_run(site) and at.line > (site.end_line or site.line)


def _is_given_once(caller: Callsite, parameters: tuple[str, ...], one: str, other: str) -> bool:
    """``f(u, u)``: whether the caller's line gives one variable for both."""
    given = [expressions.parameter_argument(caller.expression, parameters, name) for name in (one, other)]
    paths = [expressions.path_text(node) for node in given]
    return paths[0] is not None and paths[0] == paths[1]


def _names_of(call: CallEvent, tensor: int) -> set[str] | None:
    """What the line of a direct call says for a tensor that it reads; None where it cannot be told one from another."""
    site = call.callsite
    if site is None or not site.direct:
        return None
    listed = expressions.operands(site.expression, method=call.does("method"))
    if len(listed) != len(call.inputs):
        return None
    paths = (
        expressions.path_text(node) for node, meta in zip(listed, call.inputs, strict=True) if meta.tensor == tensor
    )
    return {path for path in paths if path is not None}


def _hazard(
    story: Story, call: CallEvent, mutation: Mutation, site: Callsite, path: str, other: str, read: CallEvent
) -> Hazard:
    write = call.callsite
    return finding(
        CODE,
        "warning",
        message=_(
            "{call} hands one tensor to `{function}` for both `{written}` and `{other}`: {write} writes it in place as "
            "`{written}`, and {read} then reads it as `{other}`, which holds the new values too. PyTorch gives no "
            "error."
        ).format(
            call=wording.spot(site.caller),
            function=site.function.rsplit(".", 1)[-1],
            written=path,
            other=other,
            write=wording.spot(write),
            read=wording.spot(read.callsite),
        ),
        fix=_(
            "Let `{function}` make a new tensor where it writes `{written}`, or hand over a copy (`.clone()`) for one "
            "of the two."
        ).format(function=site.function.rsplit(".", 1)[-1], written=path),
        variable=story.bindings.written_name(call, mutation.tensor) or path,
        read=read,
        tensor=mutation.tensor,
        write=call,
    )


RULE = Rule(check, {CODE: Cures((flag_turned_off, value_given, bound_anew), (advice,))})
