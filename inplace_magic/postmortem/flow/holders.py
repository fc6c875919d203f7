"""Who can read a tensor at the moment of a write: names, attributes and containers on its memory."""

from __future__ import annotations

from collections.abc import Iterator

from inplace_magic.postmortem.flow.events import Frame
from inplace_magic.postmortem.flow.machine import Machine, key_of
from inplace_magic.postmortem.flow.values import Env, Function, Instance, Items, Method, Partial, Tensors, Value, parts

_MOST_DEPTH = 12
Place = tuple[object, object]
"""The owner's ``id`` and the name, attribute or number there."""


def holders(machine: Machine, frame: Frame, memories: frozenset[int]) -> tuple[str | None, ...]:
    """Return the paths that hold some memory, as the function that runs writes them: ``h``, ``self.h``.

    None stands for any other holder: a caller's name, an entry of a list, a name on several memories.

    Args:
        machine: in the middle of its run.
        frame: of the function that runs.
        memories: one number where the memory is certain.
    """
    found: dict[Place, str | None] = {}
    seen: set[int] = set()
    for each in (frame, *reversed(machine.frames)):
        env: Env | None = each.env
        while env is not None:
            _of_env(env, frame.env, memories, found, seen)
            env = env.parent
    owners = {key_of(value): name for name, value in frame.env.names.items()}
    for (owner, key), value in machine.heap.items():
        path = f"{owners[owner]}.{key}" if owner in owners and isinstance(key, str) else None
        _add(value, (owner, key), path, memories, found, seen)
    others: list[tuple[object, Value]] = [*machine.containers.items(), *machine.children.items()]
    for place, held in others:
        _add(held, (place, None), None, memories, found, seen)
    return tuple(found.values())


def _of_env(
    env: Env, own: Env | None, memories: frozenset[int], found: dict[Place, str | None], seen: set[int]
) -> None:
    if id(env) in seen:
        return
    seen.add(id(env))
    for name, value in env.names.items():
        _add(value, (id(env), name), name if env is own else None, memories, found, seen)


def _add(
    value: Value,
    place: Place,
    path: str | None,
    memories: frozenset[int],
    found: dict[Place, str | None],
    seen: set[int],
    depth: int = _MOST_DEPTH,
) -> None:
    for part in parts(value):
        if isinstance(part, Tensors):
            if part.memories & memories:
                found[place] = (
                    path if part == value and part.memories == memories and part.through in ("", "view") else None
                )
        elif isinstance(part, Function) and depth:
            for name, given in part.defaults.items():
                _add(given, (id(part), name), None, memories, found, seen, depth - 1)
            env: Env | None = part.env
            while env is not None:
                _of_env(env, None, memories, found, seen)
                env = env.parent
        elif depth and id(part) not in seen:
            seen.add(id(part))
            for key, each in _inside(part):
                inner = f"{path}.{key}" if isinstance(part, Instance) and path is not None else None
                _add(each, (id(part), key), inner, memories, found, seen, depth - 1)


def _inside(value: Value) -> Iterator[tuple[object, Value]]:
    if isinstance(value, Items):
        yield from enumerate(value.entries)
    elif isinstance(value, Instance):
        yield from value.attributes.items()
    elif isinstance(value, Partial):
        yield from enumerate(value.given)
        yield from value.named
    elif isinstance(value, Method) and value.base is not None:
        yield value.name, value.base
