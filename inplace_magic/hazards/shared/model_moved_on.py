"""A model was kept under a second name in the middle of its training, and trained on: the name holds no earlier state.

A name, an attribute and an entry of a dict hold a module, and none of them copies its parameters.

Bad::

    for epoch in range(20):
        train(model)
        if loss(model) < least:
            least, best = loss(model), model        # the model itself
    best(x)                                         # gives what the last epoch left

Good::

    for epoch in range(20):
        train(model)
        if loss(model) < least:
            least, best = loss(model), copy.deepcopy(model)
    best(x)

Told from what the names led to when an optimizer stepped. ``best`` led to the very module whose parameters were about
to be moved; they were moved after that; and when it was over, a line that says `best` ran the module, or the function
returned it. No line had run it by that name for training, and the text binds the name where a condition chooses a
moment. The same is told of several entries of one list or dict that were put in between steps, where the module is run
afterwards by another name than that which is trained; and of a module in several entries, or in several objects of one
class, that several optimizers have moved, each as if it were another one, where one line then reads it several times.
Silent where the name is bound anew in each pass, where it was given for a training that came after, and for a module
that is a part of several ones.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter

from inplace_magic.analysis.naming.chosen_models import is_chosen, says
from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Badges, Hazard, finding
from inplace_magic.hazards.fixes.kept_model import copied_when_taken
from inplace_magic.hazards.rule import Cures, Rule
from inplace_magic.language import _
from inplace_magic.record.events import CallEvent, Mutation
from inplace_magic.record.places import Callsite
from inplace_magic.record.training import ModuleSighting
from inplace_magic.source import expressions
from inplace_magic.source.listing import Listing, whole_listing

CODE = "model-moved-on"

_FEW_READS = 400
"""Calls that run a module after its last step, of which it is asked by which name they do."""


@dataclass(frozen=True)
class _Training:
    """How a module was moved."""

    writes: list[tuple[CallEvent, Mutation]]
    reads: list[CallEvent]
    """The calls that got one of its parameters after the last of these writes, oldest first."""


def check(story: Story) -> Iterator[Hazard]:
    """Yields one finding for each module."""
    sightings = sorted(story.trace.sightings, key=attrgetter("module"))
    for _module, group in groupby(sightings, key=attrgetter("module")):
        seen = list(group)
        training = _training(story, seen[0].parameters)
        if training is None or len({(each.place.function, each.path) for each in seen}) < 2:
            continue
        found = _chosen(story, seen, training) or _collected(story, seen, training) or _several(story, seen, training)
        if found is not None:
            yield found


def _training(story: Story, parameters: tuple[int, ...]) -> _Training | None:
    writes = [entry for each in parameters for entry in story.writes_to_tensor.get(each, ())]
    if not writes:
        return None
    writes.sort(key=lambda entry: entry[0].index)
    last = writes[-1][0].index
    reads = {call.index: call for each in parameters for call in story.given_to.get(each, ()) if call.index > last}
    looking = [reads[index] for index in sorted(reads) if reads[index].looks_at_values]
    return _Training(writes, looking[:_FEW_READS]) if looking else None


def _first_after(training: _Training, call: int) -> tuple[CallEvent, Mutation] | None:
    return next((entry for entry in training.writes if entry[0].index >= call), None)


def _chosen(story: Story, seen: list[ModuleSighting], training: _Training) -> Hazard | None:
    """``if loss < least: best = model``."""
    for entry in seen:
        listing = whole_listing(story.trace, entry.place)
        write = _first_after(training, entry.call)
        if listing is None or write is None or _is_trained_by(story, entry, training):
            continue
        if any(char in entry.path.removesuffix("]").rpartition("[")[2] for char in "0123456789"):
            continue  # entries are asked of below
        bound = is_chosen(listing, entry)
        read = _read_by(story, listing, entry, training) if bound is not None else None
        if bound is not None and read is not None:
            return _hazard(story, entry.path, write, read)
    return None


def _is_trained_by(story: Story, entry: ModuleSighting, training: _Training) -> bool:
    """Whether a line that says the path ran the module for a gradient before a later write."""
    last = training.writes[-1][0].index
    for each in entry.parameters:
        for call in story.given_to.get(each, ()):
            if call.index >= last:
                break
            trains = any(out.node is not None for out in call.outputs) or call.mutations
            if call.index >= (entry.since or 0) and trains and says(call.callsite, entry):
                return True
    return False


def _read_by(story: Story, listing: Listing, entry: ModuleSighting, training: _Training) -> CallEvent | None:
    """The first call after the last step that gets the module by the path, or by what the function returned."""
    read = next((call for call in training.reads if says(call.callsite, entry)), None)
    if read is not None or entry.place.function == "<module>":
        return read
    root, name = expressions.root_name(expressions.parse(entry.path)), entry.place.function.rpartition(".")[2]
    for function in listing.functions.get(name, ()):
        for node in ast.walk(function):
            value = node.value if isinstance(node, ast.Return) else None
            if value is not None and any(_is_part(each, root) for each in _parts(value)):
                after = (c for c in training.reads if c.callsite and not c.callsite.is_below_function(entry.place))
                return next(after, None)
    return None


def _parts(value: ast.expr) -> list[ast.expr]:
    return value.elts if isinstance(value, (ast.Tuple, ast.List)) else [value]


def _is_part(value: ast.expr, root: str | None) -> bool:
    return isinstance(value, ast.Name) and value.id == root


def _collected(story: Story, seen: list[ModuleSighting], training: _Training) -> Hazard | None:
    """``snapshots.append(model)`` between steps."""
    slots: dict[tuple[str, str], list[ModuleSighting]] = {}
    for entry in seen:
        if entry.since is not None and entry.path.endswith("]"):
            slots.setdefault((entry.place.function, entry.path.partition("[")[0]), []).append(entry)
    for (_function, root), entries in slots.items():
        if len({entry.call for entry in entries}) < 2 or len({entry.path for entry in entries}) < 2:
            continue
        write = _first_after(training, entries[-1].call)
        trained = [each for each in seen if each.since is None and each.path.partition("[")[0] != root]
        if write is None or not trained:
            continue
        for read in training.reads:
            if not any(says(read.callsite, each) for each in trained):
                return _hazard(story, entries[0].path, write, read)
    return None


def _several(story: Story, seen: list[ModuleSighting], training: _Training) -> Hazard | None:
    """``[Client(model) for …]``, each with an optimizer of its own."""
    own = frozenset(seen[0].parameters)
    moved_by = {each.optimizer for each in story.trace.steppings if own and own <= set(each.held)}
    if len(moved_by) < 2 or any(set(each.held) - own for each in story.trace.steppings if each.optimizer in moved_by):
        return None
    slots: dict[tuple[str, str, str, str], set[str]] = {}
    for entry in seen:
        head, bracket, rest = entry.path.partition("[")
        if bracket:
            step = rest.partition("]")[2]
            slots.setdefault((entry.place.function, head, step, entry.holder), set()).add(entry.path)
    places: dict[tuple[Callsite | None, int], int] = {}
    for call in training.reads:
        for tensor in own.intersection(meta.tensor for meta in call.inputs):
            places[call.callsite, tensor] = places.get((call.callsite, tensor), 0) + 1
            if places[call.callsite, tensor] < 2:
                continue
            several = next((sorted(paths) for paths in slots.values() if len(paths) >= 2), None)
            if several is not None:
                return _of_several(story, several, len(moved_by), training.writes[-1], call)
    return None


def _hazard(story: Story, still: str, write: tuple[CallEvent, Mutation], read: CallEvent) -> Hazard:
    call, mutation = write
    return finding(
        CODE,
        "warning",
        message=_(
            "{line} moved the model on that `{still}` had been given in the middle of the training: a second name is "
            "no copy, so {read} runs it as the last step has left it. PyTorch gives no error."
        ).format(line=wording.spot(call.callsite), still=still, read=wording.spot(read.callsite)),
        fix=_("Keep a copy: `{still} = copy.deepcopy(…)`.").format(still=still),
        variable=still,
        read=read,
        tensor=mutation.tensor,
        write=call,
        badges=Badges(wrote=_("moved on here"), read=_("runs what the last step left")),
    )


def _of_several(
    story: Story, paths: list[str], optimizers: int, write: tuple[CallEvent, Mutation], read: CallEvent
) -> Hazard:
    call, mutation = write
    return finding(
        CODE,
        "warning",
        message=_(
            "`{one}` and `{other}` are one model: {count} optimizers have moved it in turn, each from where the one "
            "before had left it, and {read} reads it several times as if they were several. PyTorch gives no error."
        ).format(one=paths[0], other=paths[1], count=optimizers, read=wording.spot(read.callsite)),
        fix=_("Give each a model of its own: `copy.deepcopy(model)`."),
        variable=paths[0],
        read=read,
        tensor=mutation.tensor,
        write=call,
        badges=Badges(wrote=_("moved again here")),
    )


RULE = Rule(check, {CODE: Cures((copied_when_taken,))})
