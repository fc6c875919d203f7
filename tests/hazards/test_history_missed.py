"""A write that the history of a view misses: told from traces by hand, without Paddle.

tests/of_paddle/test_history_missed.py shows Paddle's wrong gradients, and what the watch makes of them.
"""

from __future__ import annotations

from dataclasses import replace

from inplace_magic.hazards import find_hazards
from inplace_magic.record.autograd import AutogradNode, Backward
from inplace_magic.record.events import CallEvent, Mutation, Region, TensorMetadata
from inplace_magic.record.places import Callsite
from inplace_magic.record.trace import Trace


def tensor(number: int, node: int | None, *, row: int | None = None, version: int = 0) -> TensorMetadata:
    """The tensor of shape (2, 3) on storage 1, or one of its rows."""
    return TensorMetadata(
        tensor=number,
        version=version,
        storage=1,
        counter=1,
        shape=(2, 3) if row is None else (3,),
        strides=(3, 1) if row is None else (1,),
        offset=0 if row is None else 3 * row,
        requires_grad=True,
        is_leaf=False,
        node=node,
    )


def site(line: int, text: str) -> Callsite:
    return Callsite(line=line, text=text, statement=text, expression=text)


WHOLE, ROW = tensor(1, 1), tensor(2, 2, row=0)
LOSS = TensorMetadata(tensor=3, version=0, storage=2, counter=2, shape=(), strides=(), offset=0, node=4, is_leaf=False)
WRITTEN = replace(ROW, node=3, version=1)
READ_LATER = replace(WHOLE, version=1)

CALLS = (
    CallEvent(0, "paddle.scale", "ordinary", site(1, "h = x * 2"), outputs=(WHOLE,)),
    CallEvent(1, "Tensor.__getitem__", "view", site(2, "r = h[0]"), inputs=(WHOLE,), outputs=(ROW,)),
    CallEvent(
        2,
        "Tensor.scale_",
        "in-place",
        site(3, "r.scale_(8.0)"),
        inputs=(ROW,),
        outputs=(WRITTEN,),
        mutations=(Mutation(2, 0, 1, storage=1, counter=1),),
        mutated=(WRITTEN,),
    ),
    CallEvent(3, "paddle.sum", "ordinary", site(4, "h.sum()"), inputs=(READ_LATER,), outputs=(LOSS,)),
    CallEvent(4, "Tensor.backward", "query", site(5, "loss.backward()"), inputs=(LOSS,)),
)
NODES = (
    AutogradNode(1, "ScaleGradNode", sequence=0, call=0),
    AutogradNode(2, "SliceGradNode", sequence=1, next=(1,), call=1),
    AutogradNode(3, "ScaleGradNode", sequence=2, next=(2,), call=2),
    AutogradNode(4, "SumGradNode", sequence=3, next=(1,), call=3),
)
TRACE = Trace(calls=CALLS, nodes=NODES, backwards=(Backward(4, (4,)),), framework="paddle")


def codes(trace: Trace) -> list[str]:
    return [finding.code for finding in find_hazards(trace)[0]]


def changed(index: int, **changes: object) -> Trace:
    """The trace with one call changed."""
    calls = list(CALLS)
    calls[index] = replace(calls[index], **changes)  # type: ignore[arg-type]  # fields of a CallEvent
    return replace(TRACE, calls=tuple(calls))


def test_a_row_that_was_scaled_is_missed_by_the_whole() -> None:
    (finding,) = find_hazards(TRACE)[0]
    assert (finding.code, finding.severity) == ("history-missed", "silent")
    assert finding.mutation == CALLS[2].callsite
    assert finding.read == CALLS[3].callsite
    assert "Paddle does not rewrite" in finding.message


def test_in_pytorch_the_history_is_rewritten() -> None:
    assert "history-missed" not in codes(replace(TRACE, framework="torch"))


def test_without_a_backward_nothing_is_wrong_yet() -> None:
    assert codes(replace(TRACE, backwards=())) == []


def test_another_row_is_another_matter() -> None:
    other = tensor(5, 5, row=1, version=1)
    trace = changed(3, inputs=(other,))
    assert codes(replace(trace, nodes=(*NODES, AutogradNode(5, "SliceGradNode", sequence=1, next=(1,), call=1)))) == []


def test_a_write_without_gradients_is_meant_so() -> None:
    assert codes(changed(2, grad_enabled=False)) == []


def test_an_added_constant_changes_no_gradient() -> None:
    assert codes(changed(2, name="Tensor.add_", traits=("shifts",))) == []


def test_only_the_written_elements_count() -> None:
    second = Mutation(2, 0, 1, storage=1, counter=1, region=Region(2, (1,), (1,)))
    first = TensorMetadata(
        **{
            **{name: getattr(READ_LATER, name) for name in READ_LATER.__dataclass_fields__},
            "tensor": 6,
            "shape": (2,),
            "strides": (1,),
            "offset": 0,
        }
    )
    calls = list(changed(2, mutations=(second,)).calls)
    calls[3] = replace(calls[3], inputs=(first,))
    assert codes(replace(TRACE, calls=tuple(calls))) == []


def test_a_tensor_made_after_the_write_knows_of_it() -> None:
    trace = changed(3, inputs=(replace(READ_LATER, node=3),))
    assert codes(trace) == []
