"""What stands beside a box of the picture when a reader picks it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from inplace_magic.analysis.tree.folds import Fold
from inplace_magic.analysis.vertices import CallVertex, TensorVertex
from inplace_magic.language import _, clauses
from inplace_magic.record.events import CallEvent
from inplace_magic.record.places import Callsite
from inplace_magic.record.trace import Trace
from inplace_magic.render import lettering, words
from inplace_magic.render.drawing import Drawing
from inplace_magic.render.excerpt import source_name
from inplace_magic.render.reading import Reading


def about_tensor(
    tensor: TensorVertex, maker: CallEvent | None, drawing: Drawing, reading: Reading
) -> Iterable[tuple[str, str]]:
    facts = tensor.facts
    yield _("came by"), _origin(tensor, maker, reading)
    if facts is not None:
        yield _("shape"), words.known(facts.shape, lambda sizes: str(list(sizes)))
        yield "dtype", facts.dtype.removeprefix("torch.")
        yield _("device"), facts.device
        yield "id", words.known(facts.python_id)
        yield "data_ptr", words.known(facts.data_ptr, hex)
        yield _("storage"), words.known(facts.storage, "S{}".format)
        yield "grad_fn", reading.node_name(facts.node) or "None"
        yield _("traits"), words.traits(facts)
    saved = [edge.name for edge in drawing.graph.edges if edge.kind == "saved" and edge.source == tensor.key]
    yield _("kept for backward as"), ", ".join(dict.fromkeys(saved))
    for mutation in maker.mutations if maker is not None else ():
        if mutation.tensor == tensor.tensor and mutation.version_after == tensor.version:
            yield _("values before"), words.values(mutation.values_before)
            yield _("values after"), words.values(mutation.values_after)


def _origin(tensor: TensorVertex, maker: CallEvent | None, reading: Reading) -> str:
    if maker is None:
        return words.came_by(tensor.origin) or words.said(tensor.origin)
    inside = tensor.origin == "inside"
    text = _("made inside {call}, {place}") if inside else _("{origin} by {call}, {place}")
    place = reading.place(maker.callsite)
    return text.format(origin=words.said(tensor.origin), call=maker.name, place=place)


def about_call(call: CallVertex, event: CallEvent, drawing: Drawing, reading: Reading) -> Iterable[tuple[str, str]]:
    yield _("kind"), words.said(call.kind)
    yield _("where"), words.place(call.site)
    yield _("code"), words.code_of(call.site)
    yield _("role"), clauses((drawing.roles.savers.get(call.key, ""), drawing.roles.guilty.get(call.key, "")))
    yield _("reads"), _tensors((facts.tensor for facts in event.inputs), reading)
    yield _("gives"), _tensors((facts.tensor for facts in event.outputs), reading)
    yield _("writes"), _tensors((mutation.tensor for mutation in event.mutations), reading)
    yield _("autograd node"), ", ".join(dict.fromkeys(call.nodes))
    yield _("modules"), " › ".join(call.modules)
    yield _("raised"), call.error or ""


def _tensors(tensors: Iterable[int], reading: Reading) -> str:
    return ", ".join(words.tensor_label(tensor, reading.names) for tensor in dict.fromkeys(tensors))


def about_fold(fold: Fold, reading: Reading) -> Iterable[tuple[str, str]]:
    yield _("what"), fold.name
    yield _("calls"), str(fold.ran)
    yield _("where"), words.place(fold.site)
    yield _("writes"), _tensors((vertex.tensor for vertex in fold.mutated), reading)
    yield _("gives"), _tensors((vertex.tensor for vertex in fold.results), reading)


MAX_LINES = 200
"""Lines of the watched cell; of a longer one those that made calls."""
MAX_CODE = 160
"""Characters of a line."""


class Sources:
    """Gives each place of a trace its number, and lists the places that were asked for."""

    def __init__(self, trace: Trace) -> None:
        self.lines: dict[tuple[int | None, str | None], dict[int, str]] = {}
        """By cell and file: the text of each line."""
        if trace.source and len(trace.source) <= MAX_LINES:
            self.lines[trace.cell, None] = dict(enumerate(trace.source, 1))

    def places(self, site: Callsite | None) -> list[list[int]]:
        """``[source, line]`` of a place and of the places that led to it, the nearest first."""
        found: list[list[int]] = []
        for each in reversed(site.chain) if site is not None else ():
            if each.line:
                self.lines.setdefault((each.cell, each.file), {}).setdefault(each.line, each.text)
                found.append([list(self.lines).index((each.cell, each.file)), each.line])
        return found

    def listed(self) -> list[dict[str, Any]]:
        """``name`` and ``lines`` of each source, a line as ``[number, text]``."""
        return [
            {
                "name": lettering.printable(source_name(Callsite(1, cell=cell, file=file))),
                "lines": [
                    [number, lettering.printable(lettering.shortened(text.rstrip().expandtabs(4), MAX_CODE))]
                    for number, text in sorted(lines.items())
                ],
            }
            for (cell, file), lines in self.lines.items()
        ]
