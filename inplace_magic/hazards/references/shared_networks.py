"""Networks that have the parameters of another one: told by the statements that gave them, and by what runs.

``self.target = self.online`` in ``__init__`` gives one network two names. The trace shows it when ``self.target(x)`` is
run: it reads the parameters that the optimizer writes.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import combinations, permutations

from inplace_magic.analysis.story import Story
from inplace_magic.record.events import CallEvent, Mutation
from inplace_magic.record.places import Callsite
from inplace_magic.source import expressions
from inplace_magic.source.listing import LOOPS, Listing, texts
from inplace_magic.source.variables import variables_bound

Moved = tuple[str, str, CallEvent, Mutation, CallEvent]
"""A network, the one whose parameters it has, the writing call, its mutation, and the run that followed."""

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_SHALLOW = ("copy.copy", "copy")
_MOVES = ("to", "cuda", "cpu", "float", "double", "half", "requires_grad_")
"""What gives a module back (https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.to)."""


def source_of(value: ast.expr) -> str | None:
    """The network whose parameters an expression has: `student` of ``student``, ``copy.copy(student)`` and
    ``student.eval()``; None for what makes new ones."""
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in ("eval", "train"):
        return source_of(value.func.value)
    if isinstance(value, ast.Call):
        return source_of(value.args[0]) if _is_copied(value) else None
    return expressions.path_text(value)


def is_shallow_copy(value: ast.expr) -> bool:
    """Whether an expression makes a second module and no second parameters: ``copy.copy(student)``."""
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in ("eval", "train"):
        return is_shallow_copy(value.func.value)
    return isinstance(value, ast.Call) and _is_copied(value)


def _is_copied(value: ast.Call) -> bool:
    return expressions.path_text(value.func) in _SHALLOW and len(value.args) == 1


def bindings(node: ast.Assign) -> Iterator[tuple[str | None, ast.expr]]:
    """(name or attribute, expression) of what a statement binds."""
    for target in node.targets:
        if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            yield from ((expressions.path_text(t), v) for t, v in zip(target.elts, node.value.elts, strict=False))
        else:
            yield expressions.path_text(target), node.value


def is_chosen(listing: Listing, node: ast.Assign, still: str, moving: str) -> bool:
    """Whether a condition in a loop chooses when a network is taken: ``if loss < least: best = model``. Not where it
    chooses which one: then the loop, or what stands before it, binds one of the two names to something else."""
    inside = []
    for above in listing.around(node):
        if isinstance(above, _FUNCTIONS):
            return False
        inside.append(above)
        if isinstance(above, LOOPS):
            break
    else:
        return False
    bound = [
        (statement, value)
        for statement in ast.walk(listing.scope_of(node))
        for name, value in (bindings(statement) if isinstance(statement, ast.Assign) else ())
        if name == still and not (isinstance(value, ast.Constant) and value.value is None)
    ]
    conditional = any(isinstance(above, ast.If) and not _asks_whether_bound(above.test) for above in inside)
    return (
        conditional
        and moving not in variables_bound(inside[-1])
        and [statement for statement, _value in bound] == [node]
    )


def _asks_whether_bound(test: ast.expr) -> bool:
    """``if net is None: net = model``, which chooses no moment."""
    return isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Is) and len(test.ops) == 1


def taken_over(
    story: Story, ones: list[int], others: list[int], shared: Callable[[CallEvent], bool]
) -> tuple[CallEvent, Mutation, CallEvent] | None:
    """The writing call, its mutation, and the run that followed, for parameters that lie on the memory of another
    network's and stand still themselves: no backward fills them, and nobody writes them there.

    Args:
        story: the trace.
        ones: the parameters of the network.
        others: those of the other one.
        shared: whether a call came after a statement that gave the network that memory, where no call tells when.
    """
    since = {t: story.first_seen_on(t, meta.storage) for t in ones if (meta := story.observations.get(t)) is not None}
    if set(ones) & set(others) or len(since) < len(ones) or _filled(story).intersection(ones):
        return None
    if any(call.index > since[one] for one in ones for call, _mutation in story.writes_to_tensor.get(one, ())):
        return None
    stepped = (entry for tensor in others for entry in story.writes_to_tensor.get(tensor, ()))
    moved = [entry for entry in stepped if entry[0].index > max(since.values()) or shared(entry[0])]
    call, mutation = min(moved, key=lambda entry: entry[0].index, default=(None, None))
    if call is None or mutation is None:
        return None
    runs = (read for one in ones for read in story.given_to.get(one, ()) if read.modules and read.index > call.index)
    read = min(runs, key=lambda read: read.index, default=None)
    return (call, mutation, read) if read is not None else None


def shallow_attributes(story: Story, listing: Listing) -> Iterator[Moved]:
    """For each attribute that is a shallow copy of another one: where it was moved along, and ran again."""
    shared = dict(_shallow(listing))
    trained = min(story.executed, default=None)
    for call in story.trace.calls if shared and trained is not None else ():
        attribute = next((name for name in _called(call.callsite) if name in shared), None)
        for meta in call.inputs if attribute is not None else ():
            if attribute is None or not meta.is_trainable or meta.storage is None:
                continue
            writes = story.writes_to_storage.get(meta.storage, ())
            write = next((entry for entry in writes if (trained or 0) < entry[0].index < call.index), None)
            if write is not None and attribute in shared:
                yield f"self{attribute}", shared.pop(attribute), *write, call


def _filled(story: Story) -> set[int | None]:
    """The leaves that a backward came to."""
    return {node.variable for node in story.trace.nodes if node.variable is not None and node.node in story.ran_through}


def held_against_itself(story: Story) -> Iterator[Moved]:
    """For two names, or two attributes, that a statement gave one network: by one it ran without recording, to be held
    against what it gives by the other one."""
    given = dict.fromkeys((a.target, a.source, a.function) for a in story.aliases.statements if a.target != "return")
    given.update(dict.fromkeys(pair for listing in texts(story.trace) for pair in _of_one_source(listing)))
    given.update(dict.fromkeys(pair for listing in texts(story.trace) for pair in _handed_twice(listing)))
    given.update(dict.fromkeys(_seen_twice(story)))
    pairs = [
        {path: _callee(path, function) for path in paths}
        for *paths, function in given
        if all(path.isidentifier() for path in paths)
        or all(path.startswith("self.") for path in paths)
        or all(path.endswith("]") for path in paths)
    ]
    runs_by = _runs(story, {callee for pair in pairs for callee in pair.values()})
    for pair in pairs:
        for (still, one), (moving, other) in permutations(pair.items()):
            runs, online = runs_by[one], runs_by[other]
            memories = _parameters(runs) & _parameters(online)
            if not memories or any(output.node is not None for call in runs for output in call.outputs):
                continue
            if not _meet(story, runs, online):
                continue
            for read in runs:
                write = _written_before(story, memories & _parameters([read]), runs[0].index, read.index)
                if write is not None:
                    yield still, moving, *write, read
                    break


def _seen_twice(story: Story) -> Iterator[tuple[str, str, str]]:
    """(entry, another one, function) of two dicts or lists that held one network when it was stepped."""
    by_module: dict[tuple[int, str], list[str]] = {}
    for entry in story.trace.sightings:
        if entry.path.endswith("]"):
            by_module.setdefault((entry.module, entry.place.function), []).append(entry.path)
    for (_module, function), paths in by_module.items():
        for one, other in combinations(paths[:8], 2):
            if one.partition("[")[0] != other.partition("[")[0]:
                yield one, other, function


@lru_cache(maxsize=8)
def _of_one_source(listing: Listing) -> tuple[tuple[str, str, str], ...]:
    """(attribute, another one, function) where a function gave both what one of its names is: ``self.critic = net`` and
    ``self.lagged = net.to(device)``, which moves a module and makes no other one."""
    given: dict[tuple[ast.AST, str], list[str]] = {}
    for node in listing.nodes:
        for path, value in bindings(node) if isinstance(node, ast.Assign) else ():
            while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in _MOVES:
                value = value.func.value
            source = source_of(value)
            if path is not None and path.startswith("self.") and source is not None and source.isidentifier():
                given.setdefault((listing.scope_of(node), source), []).append(path)
    return tuple(
        (one, other, getattr(scope, "name", ""))
        for (scope, _source), paths in given.items()
        for one, other in combinations(dict.fromkeys(paths), 2)
    )


@lru_cache(maxsize=8)
def _handed_twice(listing: Listing) -> tuple[tuple[str, str, str], ...]:
    """(attribute, another one, function) where one network is handed over for two parameters that an ``__init__`` makes
    attributes of: ``Tuner(net, net)`` with ``self.policy, self.reference = policy, reference``."""
    made = {node.name: node for node in listing.nodes if isinstance(node, ast.ClassDef)}
    found: dict[tuple[str, str, str], None] = {}
    for call in listing.nodes:
        owner = made.get(call.func.id) if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) else None
        first = (
            next((f for f in owner.body if isinstance(f, ast.FunctionDef) and f.name == "__init__"), None)
            if owner
            else None
        )
        if first is None or not isinstance(call, ast.Call):
            continue
        parameters = [argument.arg for argument in (*first.args.posonlyargs, *first.args.args)][1:]
        handed = [*zip(parameters, call.args, strict=False), *((k.arg, k.value) for k in call.keywords)]
        sources = [(name, expressions.path_text(value)) for name, value in handed if source_of(value) is not None]
        for (one, source), (other, same) in combinations(sources, 2):
            if source is not None and source == same:
                attributes = [_attributes_of(first, name) for name in (one, other)]
                found.update(dict.fromkeys((a, b, "__init__") for a in attributes[0] for b in attributes[1]))
    return tuple(found)


def _attributes_of(function: ast.FunctionDef, parameter: str | None) -> list[str]:
    """The attributes that a function binds to what it was handed for a parameter."""
    given = (entry for node in ast.walk(function) if isinstance(node, ast.Assign) for entry in bindings(node))
    return [path for path, value in given if path and path.startswith("self.") and source_of(value) == parameter]


def _runs(story: Story, callees: set[str]) -> dict[str, list[CallEvent]]:
    """The calls that were made by way of each of some names and attributes."""
    found: dict[str, list[CallEvent]] = {callee: [] for callee in callees}
    known: dict[int, set[str]] = {}
    for call in story.trace.calls if callees else ():
        if id(call.callsite) not in known:
            known[id(call.callsite)] = callees.intersection(_called(call.callsite))
        for callee in known[id(call.callsite)] if call.inputs else ():
            found[callee].append(call)
    return found


def _parameters(calls: list[CallEvent]) -> set[int]:
    metas = (meta for call in calls for meta in call.inputs)
    return {meta.storage for meta in metas if meta.is_trainable and meta.storage is not None}


def _written_before(story: Story, memories: set[int], since: int, read: int) -> tuple[CallEvent, Mutation] | None:
    writes = (entry for memory in memories for entry in story.writes_to_storage.get(memory, ()))
    between = [entry for entry in writes if since < entry[0].index < read]
    return min(between, key=lambda entry: entry[0].index, default=None)


def _meet(story: Story, runs: list[CallEvent], online: list[CallEvent]) -> bool:
    """Whether a result of the runs without recording, and one of those with it, come together in one operation."""
    still = {output.tensor for call in runs for output in call.outputs}
    trained = {output.tensor for call in online for output in call.outputs}
    for call in story.trace.calls:
        given = {meta.tensor for meta in call.inputs}
        if not given.isdisjoint(still) and not given.isdisjoint(trained):
            return True
        if call not in runs and not given.isdisjoint(still):
            still |= {output.tensor for output in call.outputs if output.node is None}
        if call not in online and not given.isdisjoint(trained):
            trained |= {output.tensor for output in call.outputs if output.node is not None}
    return False


@lru_cache(maxsize=8)
def _shallow(listing: Listing) -> dict[str, str]:
    """What the classes of a cell say: attribute -> what it is a shallow copy of, wherever it is bound."""
    found: dict[str, str] = {}
    others: set[str] = set()
    for node in listing.nodes:
        targets = node.targets if isinstance(node, ast.Assign) else []
        for path in (expressions.path_text(target) or "" for target in targets):
            if not path.startswith("self.") or not isinstance(node, ast.Assign):
                continue
            source, attribute = source_of(node.value), _callee(path)
            if source is not None and source.startswith("self.") and is_shallow_copy(node.value):
                found[attribute] = source
            else:
                others.add(attribute)
    return {attribute: source for attribute, source in found.items() if attribute not in others}


def _callee(path: str, function: str = "") -> str:
    """A network as the lines that run it tell it: an attribute, whoever has it, or a name of one function."""
    return f".{path.rpartition('.')[2]}" if "." in path else f"{function}:{path}"


def _called(site: Callsite | None) -> Iterator[str]:
    """What a place and those above it call: the attribute of ``self.target(x)``, the name of ``target(x)``."""
    while site is not None:
        node = expressions.parse(site.expression)
        path = expressions.path_text(node.func) if isinstance(node, ast.Call) else None
        if path is not None:
            yield _callee(path, site.function)
        site = site.caller
