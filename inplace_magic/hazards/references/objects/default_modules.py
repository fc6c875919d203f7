"""Two objects of one class hold one module, because it is the default of a parameter that both left out.

``def __init__(self, head=nn.Linear(8, 1))`` makes one layer when the class is defined. Who shares a layer on purpose
hands it over. For which object a line ran is told by the leaves that the same run of the method went to, since
``self.body(x)`` with another weight is another object's; where there are none, by two variables of one function, as in
``a(x)`` and ``b(x)``.
"""

from __future__ import annotations

import ast
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache, partial

from inplace_magic.analysis.story import Story
from inplace_magic.hazards.references.objects.shared_containers import class_around, default_left_out, is_made_again
from inplace_magic.hazards.references.origins import builds_on_itself
from inplace_magic.hazards.references.owners import object_of
from inplace_magic.record.events import CallEvent
from inplace_magic.record.places import Callsite
from inplace_magic.source import expressions
from inplace_magic.source.listing import whole_listing

_MOST = 32
"""Writes of a tensor by one place that are looked at."""
_NEAR = 64
"""Calls beside a call among which the leaves of its object are looked for."""


@dataclass(frozen=True)
class DefaultModule:
    """A default module that serves two objects."""

    write: CallEvent
    """Writes one of its buffers for an object, on top of what was written for another one; or moves its leaves."""
    tensor: int
    attribute: str
    """``head`` of ``self.head(x)``."""
    parameter: str
    read: CallEvent | None = None
    """Runs moved leaves for an object that had no part in moving them."""


@dataclass(frozen=True)
class _Default:
    """What a line runs: a module that every object of a class got by default."""

    owner: str
    attribute: str
    parameter: str


@dataclass(frozen=True)
class _Run:
    """For whom a method ran."""

    caller: Callsite | None
    said: str
    """How the method said which leaves: ``self.linear(x)``."""
    leaves: frozenset[int]

    def is_another(self, other: _Run, story: Story) -> bool:
        """Whether it is certain that two runs were for two objects."""
        if self.leaves or other.leaves:
            return self.said == other.said and not self.leaves & other.leaves
        names = object_of(self.caller), object_of(other.caller)
        one_function = self.caller is not None and self.caller.same_function(other.caller)
        if not one_function or None in names or names[0] == names[1]:
            return False
        return not any({alias.target, alias.source} == set(names) for alias in story.trace.aliases)


@dataclass(eq=False)
class _Trained:
    """By which objects a leaf was moved."""

    until: int = -1
    moved: list[_Run] = field(default_factory=list)
    """Those that had a part in each of the steps so far."""
    since: list[_Run] = field(default_factory=list)
    """Those that ran it since the last step."""

    def runs(self, story: Story, leaf: int, call: CallEvent, run: _Run) -> bool:
        """Enters a run; gives whether it was for an object that had no part in the steps."""
        writes = story.writes_to_tensor.get(leaf, ())
        first = bisect_left(writes, self.until, key=_index)
        if first < len(writes) and writes[first][0].index < call.index:
            both = [old for old in self.moved if any(not new.is_another(old, story) for new in self.since)]
            self.moved, self.since = both or self.moved or self.since, []
        self.until = call.index
        if self.moved and all(run.is_another(old, story) for old in self.moved):
            return True
        if all(run != old for old in self.since):
            self.since.append(run)
        return False


def default_modules(story: Story) -> Iterator[DefaultModule]:
    """Yields one for each class and attribute."""
    called = cache(partial(_default_called, story))
    first: dict[tuple[_Default, int], _Run] = {}
    trained: dict[tuple[_Default, int], _Trained] = {}
    asked: Counter[tuple[_Default, int]] = Counter()
    told: set[_Default] = set()
    running = {
        key: [(place, default) for place in site.chain if (default := called(place)) is not None]
        for key, site in story.sites.items()
    }
    for call in story.at(key for key, defaults in running.items() if defaults):
        site = call.callsite
        if call.error is not None or not (call.mutations or call.index in story.training):
            continue
        leaves = [meta.tensor for meta in story.training.get(call.index, ())]
        for place, default in running[id(site)]:
            if default in told:
                continue
            run = None
            for mutation in call.mutations:
                meta, key = story.observations.get(mutation.tensor), (default, mutation.tensor)
                asked[key] += 1
                if meta is None or meta.is_trainable or asked[key] > _MOST or story.is_gradient(mutation):
                    continue
                run = run or _Run(place.caller, *_leaves_beside(story, call, place))
                before = first.setdefault(key, run)
                if run.is_another(before, story) and builds_on_itself(story, call, mutation):
                    told.add(default)
                    yield DefaultModule(call, mutation.tensor, default.attribute, default.parameter)
                    break
            for leaf in leaves if default not in told else ():
                run = run or _Run(place.caller, *_leaves_beside(story, call, place))
                if trained.setdefault((default, leaf), _Trained()).runs(story, leaf, call, run):
                    told.add(default)
                    write = story.writes_to_tensor[leaf][0][0]
                    yield DefaultModule(write, leaf, default.attribute, default.parameter, call)
                    break


def _index(entry: tuple[CallEvent, object]) -> int:
    return entry[0].index


def _default_called(story: Story, place: Callsite) -> _Default | None:
    """What a place runs, where it is a default module of its object: ``self.head(x)``, ``self.head.predict(x)``."""
    node = expressions.parse(place.expression)
    called = node.func if isinstance(node, ast.Call) else None
    while isinstance(called, ast.Attribute) and isinstance(called.value, ast.Attribute):
        called = called.value
    own = isinstance(called, ast.Attribute) and expressions.path_text(called.value) in place.parameters[:1]
    listing = whole_listing(story.trace, place) if own else None
    owner = class_around(listing, place) if listing is not None else None
    if owner is None or not isinstance(called, ast.Attribute):
        return None
    left_out = default_left_out(story, owner, called.attr)
    if left_out is None or not isinstance(left_out[1], ast.Call) or not is_made_again(story, owner.name):
        return None
    return _Default(owner.name, called.attr, left_out[0])


def _leaves_beside(story: Story, call: CallEvent, place: Callsite) -> tuple[str, frozenset[int]]:
    """How the run of a method came to other leaves of its object next to a call, and those: the last ones before it, or
    the first ones after it, as the text has them."""
    own = {meta.tensor for meta in call.inputs}
    for step in (-1, 1):
        for index in range(call.index + step, call.index + step * _NEAR, step):
            other = story.calls.get(index)
            if other is None or other.callsite is None or other.mutations:
                continue
            leaves = frozenset(meta.tensor for meta in other.inputs if meta.is_trainable)
            here = next((each for each in other.callsite.chain if each.same_run(place)), None) if leaves else None
            if here is None or leaves & own:
                continue
            earlier = here.line < place.line or (here.line == place.line and here.expression in place.expression)
            if earlier == (step < 0) and _says_which(here, place.parameters[:1], len(leaves)):
                return here.expression, leaves
    return "", frozenset()


def _says_which(site: Callsite, own: tuple[str, ...], leaves: int) -> bool:
    """Whether an expression says attributes of the object: ``self.linear(x)``, ``F.linear(x, self.weight)``; and not
    ``layer(x)``, which may be another one in each pass of a loop."""
    node = expressions.parse(site.expression)
    if not isinstance(node, ast.Call):
        return False
    paths = [expressions.path_text(each) or "" for each in (node.func, *node.args)]
    said = [path.partition(".")[0] in own and "." in path and "[" not in path for path in paths]
    return said[0] or sum(said) >= leaves
