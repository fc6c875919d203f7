"""Traces by hand: the shortest way to say what a watch recorded, without torch."""

from __future__ import annotations

import ast
from dataclasses import replace
from functools import partial
from typing import Any

from inplace_magic.capture.torch.refusals import refusal_of
from inplace_magic.capture.torch.traits import function_behind, node_traits, saved_role, traits_of
from inplace_magic.hazards import Hazard
from inplace_magic.record.autograd import AutogradNode, SavedTensor
from inplace_magic.record.events import CallEvent, Kind, Mutation, Region, TensorMetadata
from inplace_magic.record.memory import Storage
from inplace_magic.record.names import TensorName
from inplace_magic.record.places import Callsite
from inplace_magic.record.trace import Trace
from inplace_magic.report import Report
from inplace_magic.source import expressions
from inplace_magic.source.statements import targets_at

SIGMOID_CELL = (
    "%%inplace_watch",
    "features = torch.randn(8, 5)",
    "weight = torch.randn(5, requires_grad=True)",
    "logits = features @ weight",
    "probs = torch.sigmoid(logits)",
    "probs[2] = 2.0",
    "loss = probs.sum()",
    "loss.backward()",
)


def site(line: int, source: tuple[str, ...] = SIGMOID_CELL, cell: int = 7, **more: Any) -> Callsite:
    """Line `line` (1-based) of `source`, in ``Cell In[7]``."""
    text = source[line - 1].strip()
    where = Callsite(line=line, text=text, cell=cell, statement=text, expression=text.split(" = ")[-1])
    return with_targets(replace(where, **more))


def with_targets(where: Callsite) -> Callsite:
    """The place, and those that led to it, with what its statement puts the value of its expression into, as capture
    notes it."""
    statement = expressions.parse(where.statement)
    if isinstance(statement, ast.expr):
        statement = ast.copy_location(ast.Expr(statement), statement)
    segment = partial(ast.get_source_segment, where.statement)
    spans = {
        (node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)
        for node in (ast.walk(statement) if statement is not None else ())
        if isinstance(node, (ast.expr, ast.stmt)) and segment(node) == where.expression.strip()
    }
    targets = (targets_at(statement, span) for span in spans if isinstance(statement, ast.stmt))
    caller = with_targets(where.caller) if where.caller is not None else None
    return replace(where, targets=next((found for found in targets if found is not None), None), caller=caller)


def tensor(number: int, version: int | None = 0, shape: tuple[int, ...] | None = (8,), **more: Any) -> TensorMetadata:
    """Tensor `number` on a storage and a version counter of the same number, four bytes an element."""
    count = 1
    for size in shape or ():
        count *= size
    base = TensorMetadata(
        tensor=number,
        version=version,
        storage=number,
        counter=number,
        shape=shape,
        strides=(1,) * len(shape or ()),
        offset=0,
        dtype="float32",
        device="cpu",
        nbytes=4 * count,
        python_id=140_000_000_000 + 96 * number,
        data_ptr=94_000_000_000 + 64 * number,
    )
    return replace(base, **more)


def sigmoid_trace() -> Trace:
    """What a watch of SIGMOID_CELL records: sigmoid saved its result at version 0, line 6 wrote it, backward raised."""
    features = tensor(1, shape=(8, 5))
    weight = tensor(2, shape=(5,), requires_grad=True)
    logits = tensor(3, requires_grad=True, is_leaf=False, node=2)
    probs = tensor(4, requires_grad=True, is_leaf=False, node=3)
    written = replace(probs, version=1, node=4)
    loss = tensor(5, shape=(), requires_grad=True, is_leaf=False, node=5)
    text = (
        "RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation: "
        "[torch.FloatTensor [8]], which is output 0 of CopySlices, is at version 1; expected version 0 instead."
    )
    before = (0.9, 0.4, 0.3, 0.5, 0.5, 0.6, 0.7, 0.8)
    after = (0.9, 0.4, 2.0, 0.5, 0.5, 0.6, 0.7, 0.8)
    trace = Trace(
        calls=(
            CallEvent(0, "torch.randn", "ordinary", site(2), outputs=(features,)),
            CallEvent(1, "torch.randn", "ordinary", site(3), outputs=(weight,)),
            CallEvent(2, "Tensor.matmul", "ordinary", site(4), (features, weight), (logits,)),
            CallEvent(3, "torch.sigmoid", "ordinary", site(5), (logits,), (probs,)),
            CallEvent(
                4,
                "Tensor.__setitem__",
                "in-place",
                site(6),
                (probs,),
                (),
                (Mutation(4, 0, 1, 4, 4, before, after),),
                mutated=(written,),
            ),
            CallEvent(5, "Tensor.sum", "ordinary", site(7), (written,), (loss,)),
            CallEvent(6, "Tensor.backward", "query", site(8), (loss,), error=text, refusal=refusal_of(text)),
        ),
        nodes=(
            AutogradNode(1, "AccumulateGrad", variable=2, call=2),
            AutogradNode(2, "MvBackward0", 0, (None, 1), call=2),
            AutogradNode(3, "SigmoidBackward0", 1, (2,), call=3),
            AutogradNode(4, "CopySlices", 2, (3,), call=4),
            AutogradNode(5, "SumBackward0", 3, (4,), call=5),
        ),
        saved=(
            SavedTensor(2, "self", 1, 1, 0, 1, (8, 5), (5, 1), 0, "float32", "cpu", 160),
            SavedTensor(3, "result", 4, 4, 0, 4, (8,), (1,), 0, "float32", "cpu", 32),
        ),
        storages=(
            Storage(1, 160, "cpu", born=0),
            Storage(2, 20, "cpu", born=1),
            Storage(3, 32, "cpu", born=2),
            Storage(4, 32, "cpu", born=3),
            Storage(5, 4, "cpu", born=5),
        ),
        names=(
            TensorName(1, "features"),
            TensorName(2, "weight"),
            TensorName(3, "logits"),
            TensorName(4, "probs"),
            TensorName(5, "loss"),
        ),
        blindness=("Ops inside a torch call and temporaries are not seen at level `calls`; use --level ops.",),
        torch_version="2.13.0",
        cell=7,
        source=SIGMOID_CELL,
    )
    return with_traits(trace)


def sigmoid_report() -> Report:
    """`sigmoid_trace` with the finding that the rules give for it."""
    finding = Hazard(
        code="saved-tensor-overwritten",
        severity="error",
        message=(
            "`probs` was overwritten by `probs[2] = 2.0` (Cell In[7], line 6) after `torch.sigmoid` had saved it for "
            "backward (Cell In[7], line 5). PyTorch computes the gradient of sigmoid from its result; that "
            "result is at "
            "version 1 now, version 0 was expected, so backward raises instead of using wrong numbers."
        ),
        fix="Write into a copy: put `probs = probs.clone()` before line 6.",
        variable="probs",
        mutation=site(6),
        saved=site(5),
        mutations=(site(6),),
        saved_by="SigmoidBackward0",
        expected_version=0,
        found_version=1,
        tensor=4,
        call=4,
        saved_call=3,
        raised=True,
        diff="@@ Cell In[7], line 6 @@\n-probs[2] = 2.0\n+probs = probs.clone()\n+probs[2] = 2.0",
        price_bytes=32,
    )
    return Report(sigmoid_trace(), (finding,))


def with_traits(trace: Trace) -> Trace:
    """The trace with what is known of its operations, nodes and saved tensors by their names, as capture notes it."""
    return replace(
        trace,
        calls=tuple(
            replace(call, traits=traits_of(call.name), callsite=call.callsite and with_targets(call.callsite))
            for call in trace.calls
        ),
        nodes=tuple(
            replace(node, traits=node_traits(node.name), function=function_behind(node.name)) for node in trace.nodes
        ),
        saved=tuple(replace(saved, role=saved_role(saved.name)) for saved in trace.saved),
    )


def made(
    index: int,
    name: str,
    where: Callsite | None,
    inputs: tuple[TensorMetadata, ...] = (),
    outputs: tuple[TensorMetadata, ...] = (),
    **more: Any,
) -> CallEvent:
    """A call that gave new tensors: a ``view`` where an output shares an input's storage, else ``ordinary``."""
    storages = {given.storage for given in inputs}
    shared = bool(outputs) and all(output.storage in storages for output in outputs)
    kind: Kind = "view" if shared else "ordinary" if outputs else "query"
    where = where and with_targets(where)
    return replace(CallEvent(index, name, kind, where, inputs, outputs, traits=traits_of(name)), **more)


def wrote(
    index: int,
    name: str,
    where: Callsite | None,
    target: TensorMetadata,
    *others: TensorMetadata,
    counted: bool = True,
    region: Region | None = None,
    **more: Any,
) -> CallEvent:
    """A call that wrote `target` in place and read `others`; without `counted`, no version moved."""
    after = replace(target, version=(target.version or 0) + counted)
    mutation = Mutation(target.tensor, target.version, after.version, target.storage, target.counter, region=region)
    where = where and with_targets(where)
    call = CallEvent(index, name, "in-place", where, (target, *others), (), (mutation,), mutated=(after,))
    return replace(call, traits=traits_of(name), **more)
