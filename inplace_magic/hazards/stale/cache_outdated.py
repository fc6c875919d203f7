"""A function keeps what it gave for a tensor, the tensor was written, and the function gave the old result again.

A tensor is its own key: ``functools.lru_cache`` and a dictionary by ``id(x)`` know it by what it is, not by its values
(https://docs.pytorch.org/docs/stable/generated/torch.Tensor.is_set_to.html compares memory in the same way).

Bad::

    @lru_cache
    def lengths(cells):
        return cells.square().sum(1)


    for colour in colours:
        gaps = lengths(cells) - 2 * cells @ colour      # the lengths of the first cells
        cells += 0.1 * (colour - cells)

Good::

    def lengths(cells):
        return cells.square().sum(1)


    for colour in colours:
        gaps = lengths(cells) - 2 * cells @ colour
        cells += 0.1 * (colour - cells)

Told from the record and the function's text: a function that keeps its results by the identity of a parameter computed
one from a tensor's values; the tensor was written after that run; a line that calls the function by the tensor's name,
and reads the tensor itself as well, then got the old result. Silent for trained leaves, whose first values may well be
kept; for copies; and where what was kept is written too, as a state is.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from inplace_magic.analysis.accesses import Write
from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Badges, Hazard, finding
from inplace_magic.hazards.references.rereading import reads_it_as
from inplace_magic.hazards.references.runs import Run, run_around
from inplace_magic.hazards.rule import Rule
from inplace_magic.language import _
from inplace_magic.record.events import CallEvent
from inplace_magic.record.paths import before_first_step
from inplace_magic.record.places import Callsite
from inplace_magic.source import expressions
from inplace_magic.source.chains import paths_in
from inplace_magic.source.listing import Listing, text_at, whole_listing
from inplace_magic.source.memos import keys_of

CODE = "cache-outdated"


@dataclass(frozen=True)
class _Kept:
    """What a function keeps of one of its runs."""

    run: Run
    inside: Callsite
    made: CallEvent
    """The call that gave the result."""
    tensor: int
    """From which it was computed."""
    path: str
    """What the function calls that: ``offsets``, ``graph.x``."""


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each function and each line that wrote behind it."""
    told: set[tuple[object, ...]] = set()
    for kept in _all_kept(story):
        for write in story.writes_to_memory(story.observations[kept.tensor].storage):
            if write.at <= kept.run.last or write.site is None or write.site.is_below_function(kept.inside):
                continue
            key = kept.inside.function, kept.inside.file, kept.inside.cell, write.site.line
            read = _read_again(story, kept, write) if key not in told else None
            if read is not None:
                told.add(key)
                yield _hazard(story, kept, write, read)
            break


def _all_kept(story: Story) -> Iterator[_Kept]:
    keeping = {key: next(_keeping_functions(story, site), None) for key, site in story.sites.items() if site.caller}
    for call in story.at(key for key, function in keeping.items() if function is not None):
        function = keeping[id(call.callsite)]
        if function is not None and call.kind == "ordinary":
            inside, keys = function
            run = run_around(story, call, inside.caller, inside) if inside.caller is not None else None
            yield from _kept_in(story, run, inside, call, keys) if run is not None else ()


def _keeping_functions(story: Story, site: Callsite) -> Iterator[tuple[Callsite, frozenset[str]]]:
    """The places, on the way to another one, in functions that keep their results, with the parameters by which."""
    for inside in site.chain[1:]:
        text = text_at(story.trace, inside)
        keys = keys_of(text, inside.function) if text is not None else frozenset()
        if keys:
            yield inside, keys


def _kept_in(story: Story, run: Run, inside: Callsite, made: CallEvent, keys: frozenset[str]) -> Iterator[_Kept]:
    """What a call of a run made, for each tensor from outside of the run that a key leads to and that it depends on."""
    result = made.outputs[0] if len(made.outputs) == 1 else None
    if result is None or made.does("clone") or made.does("copy") or made.does("buffer"):
        return
    if any(write.at > made.index for write in story.writes_to_memory(result.storage)):
        return
    todo, met = [made], {made.index}
    while todo:
        call = todo.pop()
        for given in call.inputs if not call.does("buffer") else ():
            maker = story.innermost_new(given.tensor, call.index)
            if maker is not None and run.holds(maker.index):
                if maker.index not in met:
                    met.add(maker.index)
                    todo.append(maker)
            elif not given.is_trainable and given.storage != result.storage:
                path = _path_by_a_key(call, inside, given.tensor, keys)
                if path is not None:
                    yield _Kept(run, inside, made, given.tensor, path)


def _path_by_a_key(call: CallEvent, inside: Callsite, tensor: int, keys: frozenset[str]) -> str | None:
    """The path, from a parameter on, by which a line of the function reads a tensor."""
    site = call.callsite
    if site is None or not site.same_function(inside):
        return None
    node = expressions.parse(site.expression)
    called = (each.func for each in ast.walk(node) if isinstance(each, ast.Call)) if node is not None else ()
    paths = paths_in(site.expression) - {expressions.path_text(each) for each in called}
    leading = [path for path in paths if before_first_step(path)[0] in keys and reads_it_as(call, site, tensor, path)]
    return max(sorted(leading), key=len, default=None)


def _read_again(story: Story, kept: _Kept, write: Write) -> CallEvent | None:
    """The first call after a write that reads the old result where the function was asked for it anew."""
    for read in story.given_to.get(kept.made.outputs[0].tensor, ()):
        site = read.callsite
        if read.index <= write.at or site is None or read.error is not None or not read.outputs:
            continue
        if write.site is not None and any(place.same_statement(site) for place in write.site.chain):
            continue  # `lengths(x) * x.mul_(2)` asks before it writes
        if _stands_as_before(story, kept, read.index):
            continue
        inside = site.same_function(kept.inside)
        outside = kept.path if inside else _asked_by(story, kept, write, read, site)
        if outside is not None and _reads_now(story, kept.tensor, site, outside, write.at):
            return read
    return None


def _stands_as_before(story: Story, kept: _Kept, until: int) -> bool:
    """Whether the writes since then left the values that were there, as far as small tensors tell."""
    writes = story.writes_to_memory(story.observations[kept.tensor].storage)
    since = [write.mutation for write in writes if kept.run.last < write.at < until]
    first, last = since[0], since[-1]
    if first is None or last is None or first.values_before is None or first.tensor != last.tensor:
        return False
    return first.values_before == last.values_after


def _asked_by(story: Story, kept: _Kept, write: Write, read: CallEvent, site: Callsite) -> str | None:
    """What the reading function calls the tensor that it asks the keeping function for; None where it does not ask."""
    listing = whole_listing(story.trace, site)
    if listing is None:
        return None
    result = kept.made.outputs[0].tensor
    called = kept.inside.function.rpartition(".")[2]
    operands = expressions.operands(site.expression, method=read.does("method"))
    for operand in operands:
        asking = operand
        if isinstance(operand, ast.Name):
            bound = _bound_above(listing, site, operand.id)
            before = (each for each in story.given_to.get(result, ()) if each.index < write.at)
            again = any(each.callsite == site for each in before)
            asking = bound if bound is not None and again else operand
        name = expressions.path_text(asking.func) if isinstance(asking, ast.Call) else None
        if name is None or name.rpartition(".")[2] not in (called, _object_called(kept, called)):
            continue
        root, rest = before_first_step(kept.path)
        given = expressions.parameter_argument(ast.unparse(asking), kept.inside.parameters, root)
        path = expressions.path_text(given)
        if path is not None:
            return path + rest
    return None


def _object_called(kept: _Kept, called: str) -> str | None:
    """For ``__call__``, what the line that ran it first calls the object."""
    node = expressions.parse(kept.run.caller.expression) if called == "__call__" else None
    name = expressions.path_text(node.func) if isinstance(node, ast.Call) else None
    return name.rpartition(".")[2] if name is not None else None


def _bound_above(listing: Listing, site: Callsite, name: str) -> ast.expr | None:
    """What the last statement above a place in its own block binds a name to."""
    statement = listing.statement_at(site)
    block = listing.block_of(statement) if statement is not None else []
    for each in reversed([each for each in block if statement is not None and each.lineno < statement.lineno]):
        if isinstance(each, ast.Assign) and [expressions.path_text(target) for target in each.targets] == [name]:
            return each.value
    return None


def _reads_now(story: Story, tensor: int, site: Callsite, path: str, after: int) -> bool:
    """Whether the function of a place reads the tensor itself by a path, after a call."""
    for call in story.given_to.get(tensor, ()):
        here = call.callsite
        if call.index > after and here is not None and here.same_run(site) and path in paths_in(here.expression):
            return True
    return False


def _hazard(story: Story, kept: _Kept, write: Write, read: CallEvent) -> Hazard:
    variable = story.name_written_by(write) or story.bindings.name(kept.tensor)
    return finding(
        CODE,
        "warning",
        message=_(
            "{read} reads what `{function}` kept of an earlier run, but {write} has written {tensor} since then: the "
            "function knows the tensor by what it is, and not by its values. PyTorch gives no error."
        ).format(
            read=wording.spot(read.callsite),
            function=kept.inside.function.rpartition(".")[2],
            write=wording.spot(write.site),
            tensor=f"`{variable}`" if variable else _("the tensor"),
        ),
        fix=_("Compute it anew, or make a new tensor instead of writing {tensor}.").format(
            tensor=f"`{variable}`" if variable else _("the tensor")
        ),
        variable=variable,
        origin=kept.made.callsite,
        read=read,
        tensor=kept.tensor,
        write=write,
        badges=Badges(read=_("gets the older result here"), origin=_("kept from here")),
    )


RULE = Rule(check)
