"""The parts of the DOT text for what is folded: one box for several calls, and frames around groups drawn open."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inplace_magic.analysis.folding import Fold, Frame
from inplace_magic.render import style, words
from inplace_magic.render.dot_labels import ABOUT_LENGTH, CODE_LENGTH, label_of, tail
from inplace_magic.render.drawing import Drawing
from inplace_magic.render.reading import Reading

if TYPE_CHECKING:
    import graphviz

MAX_RESULTS = 2
"""Tensors that a folded box says it gives."""


def fold_box(fold: Fold, reading: Reading) -> dict[str, str]:
    """Attributes of the box for a fold: what it is, how many calls on which lines, what it writes and gives."""
    lines = [part for part in (_heading(fold), _extent(fold, reading)) if part]
    lines[0] = f"⊞ {lines[0]}"
    if fold.mutated:
        count = words.plural(len(fold.mutated), "write")
        lines.append(f"{style.EFFECT_SYMBOL['mutated']} {count} in place inside")
    for result in fold.results[:MAX_RESULTS]:
        label = words.tensor_label(result.tensor, {result.tensor: tail(result.name)})
        lines.append(f"gives {label}  {words.shape(result.facts)}")
    if len(fold.results) > MAX_RESULTS:
        lines.append(f"and {len(fold.results) - MAX_RESULTS} more")
    about = [lines[0], f"{words.place(fold.site)}: {words.code_of(fold.site)}"]
    look = {"style": "filled", "fillcolor": style.GREEN_TINT, "color": style.GREEN, "class": "fold"}
    return {"label": label_of(lines), "tooltip": label_of(about, ABOUT_LENGTH), **look}


def _heading(group: Fold | Frame) -> str:
    where = tail(group.path)
    if isinstance(group, Fold) and group.more:
        named = f"{group.name}, " if group.name else ""
        return f"{where}{': ' if where else ''}{named}{words.plural(group.passes, 'more pass', 'more passes')}"
    code = words.code_of(group.site) if isinstance(group, Fold) and not group.name and _one_line(group) else ""
    if code:
        return words.shortened(code, CODE_LENGTH)
    times = f"{group.passes} passes" if group.passes > 1 else ""
    name = f"{group.name} × {group.passes}" if group.name and times else group.name or times
    return ": ".join(part for part in (where, name) if part)


def _one_line(fold: Fold) -> bool:
    return fold.lines is None or fold.lines[0] == fold.lines[1]


def _extent(fold: Fold, reading: Reading) -> str:
    where = ""
    if fold.lines is not None:
        first, last = fold.lines
        where = f", line {first}" if first == last else f", lines {first}–{last}"
    elif fold.site is not None and fold.site.line:
        where = f", {words.place_in(fold.site, reading.trace)}"
    return f"{words.plural(len(fold.calls), 'call')}{where}"


def draw_frames(dot: graphviz.Digraph, drawing: Drawing) -> None:
    """Groups that are drawn open, each around its parts; Graphviz draws what is called ``cluster…`` as a frame."""
    frames = {frame.key: frame for frame in drawing.frames}
    drawn = {tensor.key for tensor in drawing.graph.tensors} | {call.key for call in drawing.graph.calls}
    drawn |= {fold.key for fold in drawing.folds}
    inner = {key for frame in drawing.frames for key in frame.members if key in frames and key != frame.key}

    def draw(parent: graphviz.Digraph, frame: Frame) -> None:
        with parent.subgraph(name=f"cluster_{frame.key}") as part:
            shown = f", {frame.shown} drawn" if frame.shown < frame.passes else ""
            look = {"style": "rounded", "color": style.GREEN, "fontcolor": style.GREEN_INK, "fontsize": "10"}
            part.attr(label=label_of([_heading(frame) + shown]), labeljust="l", labelloc="t", **look)
            for key in frame.members:
                if key in frames and key != frame.key:
                    draw(part, frames[key])
                elif key in drawn:
                    part.node(key)

    for frame in drawing.frames:
        if frame.key not in inner:
            draw(dot, frame)
