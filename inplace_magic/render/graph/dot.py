"""The autograd graph as DOT text: versions of tensors, calls, and what is kept for backward.

The ``graphviz`` package builds and quotes the text; nothing is laid out here, so no Graphviz needs to be installed.
Labels are escaped piece by piece: a name from the user's code is never read as a DOT escape, an entity or markup.
"""

from __future__ import annotations

from collections.abc import Collection
from itertools import pairwise

from inplace_magic.analysis.opening import LIMIT, whole_modules
from inplace_magic.analysis.vertices import CallVertex, Edge, TensorVertex
from inplace_magic.language import N_, _, clauses
from inplace_magic.needed import needed
from inplace_magic.record.grouped import grouped
from inplace_magic.render import lettering, style, words
from inplace_magic.render.drawing import Drawing
from inplace_magic.render.graph.boxes import PARAMETER, arrow, call_box, draw_frames, fold_box, part_box
from inplace_magic.render.graph.labels import CODE_LENGTH, label_of, tail, tooltip_of
from inplace_magic.render.reading import MOST_IN_A_FILE, Reading, in_its_language
from inplace_magic.render.roles import Roles
from inplace_magic.report import Report

MAX_GRAD_FNS = 2
"""Autograd nodes that the box of a call names."""

_MANY = 150
"""Boxes from which on Graphviz looks for good places and no longer for the best: 300 side by side took it 20 seconds
(https://graphviz.org/docs/attrs/nslimit/)."""

LEGEND = {
    "mutated": N_("Double border ✎: mutated in place."),
    "saved": N_("Dashed arrow: kept for backward."),
    "view": N_("Dotted arrow: same memory."),
    "parameter": N_("Violet box ◆: a parameter."),
    "fold": N_("Green box ⊞: several calls, not drawn one by one."),
    "frame": N_("Green frame: a module, a function or a loop."),
    "overview": N_("Green box: a module; grey box: an operation; ⊞: several calls."),
    "flow": N_("On the arrows: shapes, float32 where no type is named."),
}
"""What the picture's signs say, each shown where the sign is."""


@in_its_language
def to_dot(report: Report, *, raw: bool = False, expanded: Collection[str] = frozenset()) -> str:
    return dot_of(Reading(report, most=MOST_IN_A_FILE), raw=raw, expanded=expanded)


def dot_of(reading: Reading, *, raw: bool = False, expanded: Collection[str] = frozenset(), limit: int = LIMIT) -> str:
    """As :func:`to_dot`, of a report that is being read already."""
    with needed(_("The picture of the graph"), "graphviz"):
        import graphviz

    drawing = reading.drawing(expanded, limit)
    shown, roles = drawing.graph, drawing.roles
    dot = graphviz.Digraph(
        "autograd",
        graph_attr={
            "bgcolor": style.CARD,
            "fontname": style.DOT_FONT,
            "fontsize": "10",
            "fontcolor": style.MUTED_INK,
            "label": label_of([*drawing.captions, *_legend(drawing)]),
            "labelloc": "t",
            "nodesep": "0.3",
            "pad": "0.15",
            "rankdir": "TB",
            "ranksep": "0.28",
        },
        node_attr={
            "color": style.MUTED_INK,
            "fontcolor": style.INK,
            "fontname": style.DOT_FONT,
            "fontsize": "11",
            "height": "0.3",
            "margin": "0.16,0.06",
            "shape": "box",
        },
        edge_attr={
            "arrowsize": "0.7",
            "color": style.MUTED_INK,
            "fontcolor": style.MUTED_INK,
            "fontname": style.DOT_FONT,
            "fontsize": "10",
        },
    )
    if len(shown.tensors) + len(shown.calls) > _MANY:
        dot.graph_attr.update(nslimit="1", nslimit1="1")
    for tensor in shown.tensors:
        dot.node(tensor.key, **_tensor(tensor, roles, _made(tensor, drawing, reading), raw, reading.written_as(tensor)))
    modules = whole_modules(reading.graph.calls)
    layers = {key: f"{tail(path)}: {cls}" for key, (path, cls) in modules.items() if path}
    marked = {*roles.guilty, *roles.savers}
    for call in shown.calls:
        title, place = layers.get(call.key, call.name), _place(call, reading)
        if drawing.overview and call.key not in marked and call.error is None:
            dot.node(call.key, **call_box(call, drawing, place))
        else:
            dot.node(call.key, **_call(call, title, roles, place, drawing.notes.get(call.key, [])))
    for fold in drawing.folds:
        dot.node(fold.key, **(part_box(fold, drawing) if drawing.overview else fold_box(fold, reading)))
    draw_frames(dot, drawing)
    pairs = grouped(((edge.source, edge.target), edge) for edge in shown.edges)
    if drawing.folds:
        for before, after in _waiting(drawing, {target for _source, target in pairs}):
            dot.edge(before, after, style="invis")
    viewing = set() if drawing.overview else {call.key for call in shown.calls if call.kind == "view"}
    joined = {(edge.source, edge.target) for edge in shown.edges if edge.kind == "data"}
    for (source, target), edges in pairs.items():
        between = any((source, call) in joined and (call, target) in joined for call in viewing)
        if not (between and all(edge.kind == "view" for edge in edges)):
            flow = drawing.flows.get((source, target))
            dot.edge(source, target, **(arrow(flow) if flow else _edge(edges, viewing, roles)))
    return str(dot.source)


def _legend(drawing: Drawing) -> list[str]:
    signs: set[str] = {*(edge.kind for edge in drawing.graph.edges), *(call.kind for call in drawing.graph.calls)}
    found = (
        ("mutated", any(tensor.mutated for tensor in drawing.graph.tensors)),
        ("parameter", any(_is_parameter(tensor) for tensor in drawing.graph.tensors)),
        ("fold", bool(drawing.folds) and not drawing.overview),
        ("frame", bool(drawing.frames) and not drawing.overview),
        ("overview", drawing.overview),
        ("flow", bool(drawing.flows)),
    )
    signs = {*(() if drawing.overview else signs), *(sign for sign, present in found if present)}
    sentences = [_(sentence) for sign, sentence in LEGEND.items() if sign in signs]
    size = 1 if drawing.overview else 2
    return ["  ".join(sentences[start : start + size]) for start in range(0, len(sentences), size)]


def _made(tensor: TensorVertex, drawing: Drawing, reading: Reading) -> str:
    """By which call a tensor was made, and where; "" when that was none, or was not seen."""
    maker = drawing.makers.get(tensor.key)
    inside = reading.calls.get(tensor.made_by) if tensor.origin == "inside" else None
    name = maker.name if maker is not None else inside.name if inside is not None else ""
    place = _place(maker, reading) if inside is None else reading.place(inside.callsite)
    return f"{name}, {place}" if place else name


def _tensor(tensor: TensorVertex, roles: Roles, made: str, raw: bool, written: str | None) -> dict[str, str]:
    facts = tensor.facts
    name = words.tensor_label(tensor.tensor, {tensor.tensor: tail(tensor.name)}, written)
    storage = f"S{facts.storage}" if facts is not None and facts.storage is not None else ""
    version = words.version(tensor.version)
    if _is_parameter(tensor):
        name = f"{PARAMETER} {name}"
    if tensor.mutated:
        name = f"{style.EFFECT_SYMBOL['mutated']} {name}"
        version = words.version_step(tensor.version_before, tensor.version)
    head = " · ".join(part for part in (name, storage, version) if part)
    lines = [head, words.shape(facts)]
    lines.append(made or words.came_by(tensor.origin))
    if raw and facts is not None:
        lines += [f"id {words.known(facts.python_id)}", f"data_ptr {words.known(facts.data_ptr, hex)}"]
    attributes = {"style": "rounded,filled", "fillcolor": style.CARD}
    if tensor.mutated:
        guilty = tensor.key in roles.tensors
        colour, tint = (style.VERMILION, style.VERMILION_TINT) if guilty else (style.ORANGE, style.ORANGE_TINT)
        attributes.update(peripheries="2", penwidth="2", color=colour, fillcolor=tint)
    elif tensor.key in roles.tensors:
        attributes.update(penwidth="2", color=style.BLUE, fillcolor=style.BLUE_TINT)
    elif _is_parameter(tensor):
        attributes.update(color=style.PURPLE, fillcolor=style.PURPLE_TINT)
    about = [head] if facts is None else [head, clauses((facts.device, words.traits(facts)))]
    return {"label": label_of(lines), "tooltip": tooltip_of(about), **attributes}


def _is_parameter(tensor: TensorVertex) -> bool:
    return tensor.facts is not None and tensor.facts.cls == "Parameter"


def _call(call: CallVertex, title: str, roles: Roles, place: str, notes: list[str]) -> dict[str, str]:
    found = list(dict.fromkeys(call.nodes))
    nodes = ", ".join(found[:MAX_GRAD_FNS]) + (" …" if len(found) > MAX_GRAD_FNS else "")
    symbol = style.KIND_SYMBOL[call.kind] if call.error is None else style.EFFECT_SYMBOL["raised"]
    attributes = {"style": "filled", "fillcolor": style.ZEBRA}
    if call.key in roles.guilty or call.key in roles.savers:
        # The reader looks for the line, so the code itself stands first here, and the call's name after it.
        code = lettering.shortened(words.code_of(call.site), CODE_LENGTH)
        said = [roles.guilty.get(call.key, ""), roles.savers.get(call.key, "")]
        remark = _(" and ").join(part for part in said if part)
        lines = [f"{symbol} {remark}" if call.key in roles.guilty else remark]
        lines.append(": ".join(part for part in (place, code) if part))
        lines.append(", ".join(part for part in (call.name, nodes) if part))
    else:
        lines = [f"{symbol} {title}", ", ".join(part for part in (place, nodes) if part)]
    lines += [lettering.shortened(note, CODE_LENGTH) for note in notes]
    if call.error is not None:
        lines.append(_("raised {error}").format(error=call.error.split(":", 1)[0]))
        attributes.update(color=style.VERMILION)
    if call.key in roles.guilty:
        attributes.update(penwidth="3", color=style.VERMILION, fillcolor=style.VERMILION_TINT, fontsize="13")
        attributes["class"] = "guilty"
    elif call.key in roles.savers:
        attributes.update(penwidth="2", color=style.BLUE, fillcolor=style.BLUE_TINT)
    about = [lines[0], words.place_and_code(call.site), call.error or ""]
    return {"label": label_of(lines), "tooltip": tooltip_of(about), **attributes}


def _waiting(drawing: Drawing, reached: set[str]) -> list[tuple[str, str]]:
    """Boxes to which no arrow leads, such as an optimizer's step, with the one that ran before."""
    boxes = [(fold.calls[0], fold.key) for fold in drawing.folds]
    boxes += [(call.call, call.key) for call in drawing.graph.calls]
    order = [key for _, key in sorted(boxes)]
    tensors = {tensor.key for tensor in drawing.graph.tensors}
    made = {edge.source: edge.target for edge in drawing.graph.edges if edge.kind == "data" and edge.target in tensors}
    return [(made.get(before, before), key) for before, key in pairwise(order) if key not in reached]


def _edge(edges: list[Edge], viewing: set[str], roles: Roles) -> dict[str, str]:
    kinds = {edge.kind for edge in edges}
    saved = ", ".join(dict.fromkeys(edge.name for edge in edges if edge.kind == "saved"))
    attributes: dict[str, str] = {}
    if "saved" in kinds:
        said = _("kept for backward as {names}").format(names=saved)
        attributes.update(style="dashed", color=style.BLUE, tooltip=tooltip_of([said]))
        if "data" not in kinds:
            # The keeper made it: an arrow against the flow would otherwise turn the picture upside down.
            attributes["constraint"] = "false"
        if any(edge in roles.broken for edge in edges):
            label = label_of([f"   {_('kept for backward')}"])
            attributes.update(penwidth="2", color=style.VERMILION, fontcolor=style.VERMILION_INK, label=label)
    elif "view" in kinds or edges[0].source in viewing or edges[0].target in viewing:
        attributes.update(style="dotted", tooltip=tooltip_of([_("same memory")]))
    return attributes


def _place(call: CallVertex | None, reading: Reading) -> str:
    known = call is not None and call.site is not None and call.site.line
    return reading.place(call.site) if call is not None and known else ""
