"""What the live view of a report is told: its graph's vertices, source lines and calls as small plain JSON.

``explorer.js`` draws from it, on a saved page and in the widget alike; it knows nothing else of the report. A vertex,
a line and a call find each other by the vertex's key in the graph (``T4@v1``, ``C3``, a fold's ``F18-23``), by a pair
of numbers for a line (which of ``sources``, and the line in it), and by the call's index.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections import deque
from collections.abc import Collection, Iterable
from functools import cache
from typing import Any

from inplace_magic.analysis.effects import is_own_write
from inplace_magic.analysis.graph import AutogradGraph
from inplace_magic.analysis.opening import LIMIT
from inplace_magic.analysis.tree.folds import Fold
from inplace_magic.analysis.vertices import CallVertex, TensorVertex
from inplace_magic.language import N_, _
from inplace_magic.record.grouped import grouped
from inplace_magic.render import lettering, style, words
from inplace_magic.render.drawing import Drawing
from inplace_magic.render.page.about import Sources, about_call, about_fold, about_tensor
from inplace_magic.render.reading import Reading
from inplace_magic.render.roles import Roles
from inplace_magic.render.style import minified, style_sheet, text_of


def packed(state: dict[str, Any]) -> str:
    """Plain data as the value of ``data-state``."""
    return packed_text(json.dumps(state, ensure_ascii=False, separators=(",", ":")))


def packed_text(text: str) -> str:
    """Return a text, as :func:`packed` packs JSON."""
    deflate = zlib.compressobj(9, memLevel=9)
    return base64.b64encode(deflate.compress(text.encode()) + deflate.flush()).decode()


def unpacked(text: str) -> dict[str, Any]:
    """Return the data that :func:`packed` packed."""
    state: dict[str, Any] = json.loads(zlib.decompress(base64.b64decode(text)))
    return state


MAX_STEPS = 150
"""Calls that the scrubber stops at; of a longer cell it stops once at each box of the picture."""
MAX_PLACES = 12
"""Lines of one folded box."""
MAX_FACT = 300
"""Characters of one fact of a vertex, and of what a call did."""
MAX_HELD = 400
"""Names of what is in one folded box, by which a search finds it."""
PARTS = ("themed.js", "picture.js", "camera.js", "keys.js", "source.js", "steps.js", "explorer.js")
"""The live view, each file after those that it uses."""

WORDS = {
    "graph": N_("Autograd graph: arrow keys go from box to box, Enter keeps one selected, Escape lets go"),
    "find": N_("find a tensor or call"),
    "found": N_("{count} found"),
    "zoom_in": N_("Zoom in"),
    "zoom_out": N_("Zoom out"),
    "fit": N_("Fit"),
    "fit_all": N_("Show the whole graph"),
    "expand": N_("Expand"),
    "expand_all": N_("Show all of the graph, readable"),
    "reduce": N_("Reduce"),
    "more": N_("more of the graph"),
    "source": N_("Source"),
    "steps": N_("Step through the calls"),
    "all_steps": N_("all calls"),
    "before": N_("before the first call"),
    "nothing_selected": N_("Point at a box or a line of code; a click keeps it. Drag to move, Ctrl+wheel to zoom."),
    "let_go": N_("Escape lets go"),
    "open": N_("Open"),
    "inside": N_("; folded in {boxes}"),
    "folded": N_("is folded; a page cannot open it, --widget and report.to_svg(expanded=['{key}']) can."),
    "copy": N_("Copy the corrected lines"),
    "copied": N_("Copied"),
    "broken": N_("The picture could not be made live: {error}. Please report it."),
}
"""What the script writes on the screen."""


def explorer_state(reading: Reading, *, expanded: Collection[str] = frozenset(), limit: int = LIMIT) -> dict[str, Any]:
    """Vertices, findings' paths, source lines and steps of a report; the same report gives the same state.

    Args:
        expanded: keys of folded groups that the picture has open, as for ``to_svg``.
    """
    drawing = reading.drawing(expanded, limit)
    sources = Sources(reading.trace)
    nodes = dict(_nodes(drawing, reading, sources))
    return {
        "nodes": nodes,
        "first": _first(drawing, reading),
        "paths": _paths(drawing, reading),
        "steps": _steps(drawing, reading, sources),
        "marks": _marks(drawing.roles, reading, sources),
        "sources": sources.listed(),
        "words": {key: _(text) for key, text in WORDS.items()},
        "css": style_sheet(),
    }


@cache
def script() -> str:
    """Return the text of :data:`PARTS`, which defines ``mount``, without comments and indentation."""
    return "\n".join(minified(text_of(part)) for part in PARTS)


@cache
def live_script() -> str:
    """:func:`script` and what mounts it on a report of a page, in a scope of its own."""
    return f"(function(){{\n{script()}\n{minified(text_of('page.js'))}\n}})();"


@cache
def page_script() -> str:
    """Return the script of a page: :func:`live_script` packed, and what unpacks it."""
    return minified(text_of("boot.js")).replace("LIVE", packed_text(live_script()))


def _nodes(drawing: Drawing, reading: Reading, sources: Sources) -> Iterable[tuple[str, dict[str, Any]]]:
    for tensor in drawing.graph.tensors:
        maker = reading.calls.get(tensor.made_by)
        about = about_tensor(tensor, maker, drawing, reading)
        at = sources.places(maker.callsite if maker is not None else None)
        yield tensor.key, _box(reading.title(tensor), about, at, -1 if tensor.made_by is None else tensor.made_by)
    for call in drawing.graph.calls:
        about = about_call(call, reading.calls[call.call], drawing, reading)
        yield call.key, _box(call.name, about, sources.places(call.site), call.call)
    calls = {call.call: call for call in reading.graph.calls}
    tensors = {tensor.key: tensor for tensor in reading.graph.tensors}
    for fold in drawing.folds:
        sites = list(dict.fromkeys(reading.calls[index].callsite for index in fold.calls))[:MAX_PLACES]
        places = dict.fromkeys(place for site in sites for place in map(tuple, sources.places(site)[:1]))
        title = fold.path or fold.name or words.code_of(fold.site) or fold.key
        box = _box(title, about_fold(fold, reading), list(map(list, places)), fold.calls[0])
        yield fold.key, {**box, "fold": True, "held": _held(fold, calls, tensors)}


def _box(title: str, about: Iterable[tuple[str, str]], at: list[list[int]], call: int) -> dict[str, Any]:
    facts = [[label, _short(value)] for label, value in about if value]
    return {"title": lettering.printable(title), "facts": facts, "at": at, "call": call}


def _short(text: str) -> str:
    return lettering.printable(lettering.shortened(text, MAX_FACT))


def _held(fold: Fold, calls: dict[int, CallVertex], tensors: dict[str, TensorVertex]) -> str:
    """Paths and classes of the modules inside, names of calls and tensors."""
    inside = [calls[index] for index in fold.calls]
    rooms = [f"{room.path} {room.cls}" for call in inside for room in call.rooms if room is not None]
    others = [*(call.name for call in inside), *(tensors[key].name for key in fold.tensors)]
    parameters = [name for call in inside for name in call.parameters]
    names = list(dict.fromkeys(filter(None, [*rooms, *others, *parameters])))[:MAX_HELD]
    return lettering.printable(" ".join(names))


def _first(drawing: Drawing, reading: Reading) -> str | None:
    """Key of what is to be in sight where no finding says so: the first tensor that a line of the user's mutated."""
    for tensor in drawing.graph.tensors:
        if tensor.mutated and tensor.made_by is not None and is_own_write(reading.calls[tensor.made_by]):
            return tensor.key
    return None


def _paths(drawing: Drawing, reading: Reading) -> list[list[str]]:
    """For each finding the way from what saved to what wrote, or from there to what reads the new values; with the
    version that was lost and the one after it."""
    found: dict[tuple[str, ...], None] = {}
    for finding in reading.report.findings:
        if finding.is_alarm and finding.call is not None:
            start = finding.call if finding.saved_call is None else finding.saved_call
            end = finding.call if finding.read_call is None else finding.read_call
            ways = [
                path_between(drawing.graph, f"C{a}", f"C{b}") for a, b in ((start, finding.call), (finding.call, end))
            ]
            found[tuple(dict.fromkeys(key for way in ways for key in way))] = None
    return [list(path) for path in found if path]


def _marks(roles: Roles, reading: Reading, sources: Sources) -> list[list[Any]]:
    """``[line, whether it wrote, what stands beside it]`` for the lines that findings are about."""
    found: dict[tuple[int, ...], list[Any]] = {}
    for written, said in ((True, roles.guilty), (False, roles.savers)):
        for key, text in said.items():
            call = reading.calls.get(int(key[1:]))  # None: only the latest calls of a long watch are kept
            for place in sources.places(call.callsite if call is not None else None)[:1]:
                shown = f"{style.EFFECT_SYMBOL['mutated']} {text}" if written else text
                found.setdefault(tuple(place), [place, written, shown])
    return list(found.values())


def _steps(drawing: Drawing, reading: Reading, sources: Sources) -> list[list[Any]]:
    """In the order of time: ``[call, key of its vertex, its lines, what it did]``."""
    shown = {call.call: call.key for call in drawing.graph.calls}
    shown.update((maker.call, key) for key, maker in drawing.makers.items())
    shown.update((index, fold.key) for fold in drawing.folds for index in fold.calls)
    calls = [call for call in reading.trace.calls if call.kind != "query" or call.error is not None]
    if len(calls) > MAX_STEPS:
        first = {fold.calls[0] for fold in drawing.folds}
        folded = {index for fold in drawing.folds for index in fold.calls}
        calls = [call for call in calls if call.index in shown and (call.index in first or call.index not in folded)]
    steps: list[list[Any]] = []
    for call in calls:
        phrase = _short(f"{call.name}, {reading.place(call.callsite)}")
        steps.append([call.index, shown.get(call.index), sources.places(call.callsite), phrase])
    return steps


def path_between(graph: AutogradGraph, saver: str, mutator: str) -> list[str]:
    """Keys of the vertices on a shortest way between two calls, whichever way its arrows point, and what the second
    one wrote; only the calls that are drawn when there is no such way.

    The tensor that was saved is either an input of the saver or its output, and the mutator has it as an input; so the
    shortest way is through that tensor and, where a view lies between, through the view.
    """
    drawn = {vertex.key for vertex in graph.tensors} | {vertex.key for vertex in graph.calls}
    arrows = [(edge.source, edge.target) for edge in graph.edges if {edge.source, edge.target} <= drawn]
    neighbours = grouped(way for source, target in arrows for way in ((source, target), (target, source)))
    written = [edge.target for edge in graph.edges if edge.source == mutator and edge.kind == "data"]
    ways = {saver: [saver]}
    queue = deque([saver] if saver in drawn and mutator in drawn else [])
    while queue and mutator not in ways:
        here = queue.popleft()
        for key in neighbours.get(here, ()):
            if key not in ways and (key == mutator or key not in written):
                ways[key] = [*ways[here], key]
                queue.append(key)
    way = ways.get(mutator) or [key for key in (saver, mutator) if key in drawn]
    return [*way, *(key for key in dict.fromkeys(written) if key in drawn and key not in way)]
