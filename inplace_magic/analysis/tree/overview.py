"""The parts of an overview: modules, in place of the lines of code that run them.

``x = self.join2(torch.cat([second, self.up2(x)], dim=1))`` is one line, and to somebody who asks what the model is it
is ``net.up2``, ``cat`` and ``net.join2``. What stands between two modules and is none, such as a reshape, a permute and
a cat, is one part.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from inplace_magic.analysis.tree.branches import Branch, Step
from inplace_magic.analysis.tree.module_names import UNTOLD
from inplace_magic.analysis.vertices import CallVertex


def whole_modules(calls: Sequence[CallVertex]) -> dict[str, tuple[str, str]]:
    """Path and class of the module, for each call that is all that autograd tracks of the module's forward.

    ``F.linear`` in the forward of a model that runs ``F.relu`` or another module too is a part of that model. The path
    is empty where no parameter tells it.

    Returns:
        By the call's key, e.g. ``{"C3": ("net.conv1", "Conv2d"), "C4": ("", "ReLU")}``.
    """
    run: dict[tuple[str, ...], set[str]] = {}
    for call in calls:
        if call.nodes and call.modules:
            run.setdefault(call.modules, set()).add(call.name)
    around = {modules[:size] for modules in run for size in range(1, len(modules))}
    found = {}
    for call in calls:
        if call.nodes and call.modules and len(run[call.modules]) == 1 and call.modules not in around:
            room = call.rooms[-1] if call.rooms else None
            path, cls = (room.path, room.cls) if room is not None else ("", call.modules[-1])
            if path or cls != UNTOLD:
                found[call.key] = path, cls
    return found


def parts_of_overview(parts: Iterable[Branch], whole: Mapping[str, object], *, joined: bool) -> list[Branch]:
    """Return the modules among some parts and in the lines among them, and what is between two modules; `whole` has the
    calls that are modules, by key."""
    flat = list(_opened(parts, whole))
    found: list[Branch] = []
    for loose, group in groupby(flat, key=lambda part: part.kind in ("call", "line") and not runs_modules(part, whole)):
        some = list(group)
        found += [_as_one(some)] if loose and 1 < len(some) < len(flat) else some
    return found if joined else flat


def is_module(branch: Branch, whole: Mapping[str, object]) -> bool:
    """True if it is a run of one module, or of several in a row."""
    if branch.kind == "call":
        return branch.calls[0].key in whole
    return branch.step.kind == "run" and (bool(branch.step.path) or branch.step.name in branch.calls[0].modules)


def runs_modules(branch: Branch, whole: Mapping[str, object], *, inside: bool = False) -> bool:
    """True if it is a module or runs one; with `inside`, what it is itself does not count."""
    if not inside and is_module(branch, whole):
        return True
    return any(runs_modules(part, whole) for part in (branch.parts[:1] if branch.kind == "loop" else branch.parts))


def _opened(parts: Iterable[Branch], whole: Mapping[str, object]) -> Iterator[Branch]:
    for part in parts:
        if part.kind in ("line", "run") and not is_module(part, whole) and runs_modules(part, whole):
            yield from _opened(part.parts, whole)
        else:
            yield part


def _as_one(parts: list[Branch]) -> Branch:
    calls = tuple(call for part in parts for call in part.calls)
    tracked = [call.name for call in calls if call.nodes] or [call.name for call in calls]
    names = dict.fromkeys(name.split(".")[-1].removeprefix("__").removesuffix("__") for name in tracked)
    first = parts[0]
    return Branch("line", Step("line", ", ".join(names), first.step.line, first.step.where), calls, parts, first.site)
