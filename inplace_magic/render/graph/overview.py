"""The boxes and arrows of an overview, which says what a model is: modules with the shapes that flow between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from inplace_magic.analysis.tree.folds import Fold
from inplace_magic.analysis.tree.module_names import steps_of
from inplace_magic.analysis.vertices import CallVertex, TensorVertex
from inplace_magic.language import _
from inplace_magic.render import lettering, style, words
from inplace_magic.render.drawing import Drawing
from inplace_magic.render.graph.folds import heading_of, writes_in
from inplace_magic.render.graph.labels import CODE_LENGTH, label_of, tooltip_of

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
