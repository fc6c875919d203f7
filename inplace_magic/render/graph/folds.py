"""The parts of the DOT text for what is folded: one box for several calls, and frames around groups drawn open."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inplace_magic.analysis.tree.folds import Fold, Frame
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
    code = words.code_of(group.site) if not group.name and _one_line(group) else ""
    if code:
        frame = times if isinstance(group, Frame) else ""
        return ": ".join(part for part in (lettering.shortened(code, CODE_LENGTH), frame) if part)
    name = f"{group.name} × {group.passes}" if group.name and times else group.name or times
    return ": ".join(part for part in (where, name) if part)


def _one_line(group: Fold | Frame) -> bool:
    return group.lines is None or group.lines[0] == group.lines[1]


def _extent(fold: Fold, reading: Reading) -> str:
    parts = [words.at_least(words.calls_of(fold.ran), fold.partial)]
    if fold.lines is not None:
        first, last = fold.lines
        text = _("line {line}") if first == last else _("lines {line}–{last}")
        parts.append(text.format(line=first, last=last))
    elif fold.site is not None and fold.site.line:
        parts.append(words.place_in(fold.site, reading.trace))
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
