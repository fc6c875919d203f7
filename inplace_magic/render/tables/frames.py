"""The report as pandas tables: plain integers, booleans and strings, one table for each question.

This is the only file that imports pandas. An unknown number is ``<NA>`` (the column is then ``Int64``), an unknown
string is empty.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, get_args

from inplace_magic.analysis.effects import effects_of
from inplace_magic.analysis.vertices import TensorVertex
from inplace_magic.language import LANGUAGES, _, use_language
from inplace_magic.needed import needed
from inplace_magic.record.events import CallEvent, TensorMetadata
from inplace_magic.record.grouped import grouped
from inplace_magic.render import words
from inplace_magic.render.reading import Reading
from inplace_magic.render.tables.memory_rows import (
    SHORT_COLUMNS,
    Row,
    call_rows,
    layout,
    line_rows,
    op_rows,
    saved_rows,
    where,
)
from inplace_magic.report import FrameView, Report

if TYPE_CHECKING:
    import pandas as pd

_COLUMNS = {
    "tensors": (
        "tensor name version origin call made_by place line code shape dtype device nbytes storage grad_fn "
        "requires_grad is_leaf is_view same_object saved_by values_before values_after id data_ptr"
    ),
    "calls": (
        "call name kind place line code inputs outputs mutations values effects grad_fn called_from parent error"
    ),
    "lines": (
        "place line code device allocated_bytes freed_bytes net_bytes peak_bytes peak_exact retained_bytes "
        "saved_bytes calls tensors"
    ),
    "memory": (
        "call name kind place line code device allocated_bytes freed_bytes net_bytes peak_bytes peak_exact "
        "retained_bytes saved_bytes tensors"
    ),
    "ops": (
        "op name in_backward call place line code device allocated_bytes freed_bytes net_bytes peak_bytes "
        "peak_exact retained_bytes tensors"
    ),
    "saved": (
        "tensor name version_saved version_last_seen node saved_as origin also_kept_by call place line code "
        "shape dtype device nbytes storage storage_bytes first hooked"
    ),
}
COLUMNS = {view: tuple(names.split()) for view, names in _COLUMNS.items()}
"""Columns of each view, in order; ``docs/tables.md`` says what they hold."""


@use_language(LANGUAGES[0])  # its words are an interface
def to_frame(report: Report, view: FrameView = "tensors") -> pd.DataFrame:
    """As :meth:`.Report.to_frame`; an empty report gives an empty frame with all columns."""
    if view not in _ROWS:
        raise ValueError(f"There is no view {view!r}; choose one of {', '.join(map(repr, get_args(FrameView)))}.")
    trace = report.trace
    if view == "ops" and trace.level in ("calls", "writes") and trace.calls:
        warnings.warn(f"Level {trace.level!r} records no operators: watch with `--level ops`.", stacklevel=4)
    frame = frame_of(_ROWS[view](Reading(report)), COLUMNS[view])
    ran = trace.ran
    if trace.discarded:
        frame.attrs["calls"] = f"{ran - trace.discarded:,} of {ran:,} were kept"
    if light := ran - trace.discarded - len(trace.calls):
        frame.attrs["passes"] = f"{light:,} of them repeated the call before and have no row"
    return frame


@use_language(LANGUAGES[0])  # its words are an interface
def memory_frame(report: Report) -> pd.DataFrame:
    """Memory by line, the columns of the table that page and text show."""
    rows = [{name: row[column] for name, column in SHORT_COLUMNS.items()} for row in line_rows(Reading(report))]
    return frame_of(rows, SHORT_COLUMNS)


def frame_of(rows: Sequence[Row], columns: Iterable[str]) -> pd.DataFrame:
    """Rows as a data frame with these columns, in this order; an unknown number is ``<NA>``."""
    with needed(_("A table"), "pandas"):
        import pandas as pd

    frame: pd.DataFrame = pd.DataFrame({column: _column(pd, [row[column] for row in rows]) for column in columns})
    return frame


def _column(pd: Any, cells: list[Any]) -> Any:
    """Whole numbers stay whole when one of them is unknown, where pandas by itself would turn them into floats."""
    if None not in cells:
        return cells
    if any(isinstance(cell, float) for cell in cells):
        return pd.array([pd.NA if cell is None else cell for cell in cells], dtype="Float64")
    large = any(cell is not None and not -(2**63) <= cell < 2**63 for cell in cells)
    return pd.array([pd.NA if cell is None else cell for cell in cells], dtype=object if large else "Int64")


def _tensors(reading: Reading) -> list[Row]:
    graph = reading.graph
    savers = grouped((edge.source, edge.name.rsplit(".", 1)[0]) for edge in graph.edges if edge.kind == "saved")
    return [_tensor(vertex, reading, savers) for vertex in graph.tensors]


def _tensor(vertex: TensorVertex, reading: Reading, savers: dict[str, list[str]]) -> Row:
    call = reading.calls.get(vertex.made_by)
    facts = vertex.facts or TensorMetadata(vertex.tensor, vertex.version)
    effect = next((row for row in effects_of(call) if row.tensor == vertex.tensor), None) if call else None
    mutation = effect.mutation if effect is not None else None
    return {
        "tensor": f"T{vertex.tensor}",
        "name": vertex.name,
        "version": vertex.version,
        "origin": vertex.origin,
        "call": vertex.made_by,
        "made_by": call.name if call else "",
        **where(call.callsite if call else None),
        **layout(facts),
        "grad_fn": reading.node_name(facts.node),
        "requires_grad": facts.requires_grad,
        "is_leaf": facts.is_leaf,
        "is_view": facts.is_view,
        "same_object": words.same_object(effect) if effect else "",
        "saved_by": ", ".join(dict.fromkeys(savers.get(vertex.key, ()))),
        "values_before": words.values(mutation.values_before) if mutation else "",
        "values_after": words.values(mutation.values_after) if mutation else "",
        "id": facts.python_id,
        "data_ptr": facts.data_ptr,
    }


def _calls(reading: Reading) -> list[Row]:
    made = grouped((node.call, node.name) for node in reading.trace.nodes)
    return [_call(call, reading.trace.cell, reading.names, made.get(call.index, [])) for call in reading.trace.calls]


def _call(call: CallEvent, cell: int | None, names: dict[int, str], nodes: list[str]) -> Row:
    rows = effects_of(call)
    written = [row for row in rows if row.mutation is not None]
    values = [words.changed_values(row.mutation, row.after or row.before) for row in written if row.mutation]
    return {
        "call": call.index,
        "name": call.name,
        "kind": call.kind,
        **where(call.callsite),
        "inputs": _tensor_list(call.inputs, names),
        "outputs": _tensor_list(call.outputs, names),
        "mutations": ", ".join(
            f"{words.tensor_label(row.tensor, names)} {words.version_step(row.version_before, row.version_after)}"
            for row in written
        ),
        "values": "; ".join(value for value in values if value),
        "effects": "; ".join(f"{words.tensor_label(r.tensor, names)}: {words.effect_phrase(r, names)}" for r in rows),
        "grad_fn": ", ".join(nodes),
        "called_from": ", ".join(site.place for site in words.callers(call.callsite, cell)),
        "parent": call.parent,
        "error": call.error or "",
    }


_ROWS: dict[str, Callable[[Reading], list[Row]]] = {
    "tensors": _tensors,
    "calls": _calls,
    "lines": line_rows,
    "memory": call_rows,
    "ops": op_rows,
    "saved": saved_rows,
}


def _tensor_list(tensors: tuple[TensorMetadata, ...], names: dict[int, str]) -> str:
    return ", ".join(f"{words.tensor_label(facts.tensor, names)}@{words.version(facts.version)}" for facts in tensors)
