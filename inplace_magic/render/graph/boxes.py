"""The parts of the DOT text for groups: the box of a fold, frames around groups drawn open, and in an overview, which
says what a model is, modules with the shapes that flow between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from inplace_magic.analysis.tree.folds import Fold, Frame
from inplace_magic.analysis.tree.module_names import steps_of
from inplace_magic.analysis.vertices import CallVertex, TensorVertex
from inplace_magic.language import _, clauses, ngettext
from inplace_magic.render import lettering, style, words
from inplace_magic.render.drawing import Drawing
from inplace_magic.render.graph.labels import CODE_LENGTH, label_of, tail, tooltip_of
from inplace_magic.render.reading import Reading

if TYPE_CHECKING:
    import graphviz


MAX_RESULTS = 2
"""Tensors that a folded box says it gives."""


def fold_box(fold: Fold, reading: Reading) -> dict[str, str]:
    """Attributes of a fold's box: its name, the number and lines of its calls, its writes and results."""
    lines = [part for part in (heading_of(fold), _extent(fold, reading)) if part]
    lines[0] = f"⊞ {lines[0]}"
    if fold.mutated and not fold.initialised:
        lines.append(writes_in(fold))
    for result in fold.results[:MAX_RESULTS]:
        label = words.tensor_label(result.tensor, {result.tensor: tail(result.name)})
        lines.append(_("gives {tensor}").format(tensor=f"{label}  {words.shape(result.facts)}"))
    if len(fold.results) > MAX_RESULTS:
        lines.append(_("and {count} more").format(count=len(fold.results) - MAX_RESULTS))
    about = [lines[0], words.place_and_code(fold.site)]
    look = {"style": "filled", "fillcolor": style.GREEN_TINT, "color": style.GREEN, "class": "fold"}
    return {"label": label_of(lines), "tooltip": tooltip_of(about), **look}


def writes_in(fold: Fold) -> str:
    """``✎ 2 writes in place``."""
    text = ngettext("{count} write in place", "{count} writes in place", fold.writes).format(count=fold.writes)
    return f"{style.EFFECT_SYMBOL['mutated']} {words.at_least(text, fold.partial)}"


def heading_of(group: Fold | Frame) -> str:
    """Return the name of a group as its box or its frame says it: ``net.layer1: BasicBlock × 3, 1 drawn``."""
    said = _name(group)
    if isinstance(group, Frame) and group.shown < group.passes:
        said = _("{heading}, {count} drawn").format(heading=said, count=group.shown)
    return said


def _name(group: Fold | Frame) -> str:
    where = tail(group.path)
    if isinstance(group, Fold) and group.initialised:
        return _("{module}: {cls}, initialised").format(module=where, cls=group.name)
    if isinstance(group, Fold) and group.more and not group.layers:
        named = f"{group.name}, " if group.name else ""
        return f"{where}{': ' if where else ''}{named}{words.passes_of(group.passes, group.partial)}"
    times = words.at_least(_("{count} passes").format(count=group.passes), group.partial) if group.passes > 1 else ""
    one_line = group.lines is None or group.lines[0] == group.lines[1]
    code = words.code_of(group.site) if not group.name and one_line else ""
    if code:
        frame = times if isinstance(group, Frame) else ""
        return ": ".join(part for part in (lettering.shortened(code, CODE_LENGTH), frame) if part)
    name = f"{group.name} × {group.passes}" if group.name and times else group.name or times
    return ": ".join(part for part in (where, name) if part)


def _extent(fold: Fold, reading: Reading) -> str:
    parts = [words.at_least(words.calls_of(fold.ran), fold.partial)]
    if fold.lines is not None:
        first, last = fold.lines
        text = _("line {line}") if first == last else _("lines {line}–{last}")
        parts.append(text.format(line=first, last=last))
    elif fold.site is not None and fold.site.line:
        parts.append(reading.place(fold.site))
    return clauses(parts)


def draw_frames(dot: graphviz.Digraph, drawing: Drawing) -> None:
    """Groups that are drawn open, each around its parts; Graphviz draws what is called ``cluster…`` as a frame."""
    frames = {frame.key: frame for frame in drawing.frames}
    drawn = {tensor.key for tensor in drawing.graph.tensors} | {call.key for call in drawing.graph.calls}
    drawn |= {fold.key for fold in drawing.folds}
    inner = {key for frame in drawing.frames for key in frame.members if key in frames and key != frame.key}

    def draw(parent: graphviz.Digraph, frame: Frame) -> None:
        with parent.subgraph(name=f"cluster_{frame.key}") as part:
            look = {"style": "rounded", "color": style.GREEN, "fontcolor": style.GREEN_INK, "fontsize": "10"}
            part.attr(label=label_of([heading_of(frame)]), labeljust="l", labelloc="t", **look)
            for key in frame.members:
                if key in frames and key != frame.key:
                    draw(part, frames[key])
                elif key in drawn:
                    part.node(key)

    for frame in drawing.frames:
        if frame.key not in inner:
            draw(dot, frame)


PARAMETER = "◆"
MOST = 2
"""Parameters that a box names, and shapes on one arrow."""
PATH_LENGTH = 24
"""Characters of a module's path."""
MODULE = {"style": "filled", "fillcolor": style.GREEN_TINT, "color": style.GREEN}
OPERATION = {"style": "filled", "fillcolor": style.ZEBRA}
WRITES = {"color": style.ORANGE, "peripheries": "2", "penwidth": "2"}


def call_box(call: CallVertex, drawing: Drawing, place: str) -> dict[str, str]:
    """Attributes of the box of one call: a module with its parameters, or an operation."""
    module = drawing.whole.get(call.key)
    writes = call.key in drawing.writers
    title = f"{shortened_path(module[0])}: {module[1]}".removeprefix(": ") if module is not None else call.name
    lines = [f"{style.EFFECT_SYMBOL['mutated']} {title}" if writes else title]
    lines.append(_parameters(drawing.reads.get(call.key, ())) or place)
    look = {**(MODULE if module is not None else OPERATION), **(WRITES if writes else {})}
    about = [module[0] if module is not None else "", call.name, words.place_and_code(call.site)]
    return {"label": label_of(lines), "tooltip": tooltip_of(about), **look}


def part_box(fold: Fold, drawing: Drawing) -> dict[str, str]:
    """Attributes of the box of several calls: a module, or the operations between two."""
    heading = heading_of(replace(fold, path=shortened_path(fold.path)))
    lines = [f"⊞ {lettering.shortened(heading, CODE_LENGTH) if fold.loose else heading}"]
    said = words.at_least(words.calls_of(fold.ran), fold.partial)
    if fold.mutated:
        said = f"{said}, {writes_in(fold)}"
    # What no arrow leads away from, such as the loss, would be nowhere.
    gives = [] if any(source == fold.key for source, _target in drawing.flows) else fold.results[:1]
    made = [f"{words.tensor_label(each.tensor, {each.tensor: each.name})} {words.shape(each.facts)}" for each in gives]
    lines += [said, *(_("gives {tensor}").format(tensor=tensor) for tensor in made)]
    about = [fold.path, words.place_and_code(fold.site)]
    look = {**(OPERATION if fold.loose or not fold.name else MODULE), "class": "fold"}
    return {"label": label_of(lines), "tooltip": tooltip_of(about), **look}


def shortened_path(path: str) -> str:
    """Return the last steps of a module's path, as the frames around it say where it is: ``…[0].attention``."""
    steps = steps_of(path)
    while len(steps) > 1 and sum(map(len, steps)) > PATH_LENGTH:
        del steps[0]
    kept = "".join(steps)
    return kept if kept == path else f"…{kept.removeprefix('.')}"


def arrow(flow: Sequence[TensorVertex]) -> dict[str, str]:
    """Attributes of an arrow between two boxes, or from a tensor: the shapes of what goes along it."""
    shapes = list(dict.fromkeys(map(_shape, flow)))
    shown = ", ".join(shapes[:MOST])
    if len(shapes) > MOST:
        shown = _("{shown} and {count} more").format(shown=shown, count=len(shapes) - MOST)
    names = [words.tensor_label(each.tensor, {each.tensor: each.name}) for each in flow]
    return {"label": label_of([f" {shown}"]), "tooltip": tooltip_of([", ".join(names)])}


def _parameters(read: Sequence[TensorVertex]) -> str:
    """``◆ weight [64, 3, 7, 7], bias [64]``."""
    found = [
        f"{steps_of(each.name)[-1].removeprefix('.')} {_shape(each)}"
        for each in read
        if each.name and each.is_trainable
    ]
    return f"{PARAMETER} {', '.join(found[:MOST])}{' …' if len(found) > MOST else ''}" if found else ""


def _shape(tensor: TensorVertex) -> str:
    said = words.shape(tensor.facts)
    return said.removeprefix("float32") or said
