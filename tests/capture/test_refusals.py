"""Each error of PyTorch's about a write becomes a fact of the record, whatever PyTorch's version calls it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import inplace_magic
from inplace_magic.capture.torch.refusals import refusal_of
from inplace_magic.record.refusal import Refusal
from inplace_magic.report import Report


def leaf() -> torch.Tensor:
    return torch.ones(4, requires_grad=True)


class Halves(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        return x.view(2, 2)

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:  # type: ignore[override]
        return grad.view(4)


def saved_tensor_changed() -> None:
    kept = torch.sigmoid(leaf())
    kept.mul_(2).add_(1)
    kept.sum().backward()


def graph_used_up() -> None:
    loss = leaf().exp().sum()
    loss.backward()
    loss.backward()


def leaf_written() -> None:
    leaf().mul_(2)


def view_of_a_leaf_written() -> None:
    leaf()[:2].mul_(2)


def one_of_several_views_written() -> None:
    left, _right = (leaf() * 1).chunk(2)
    left.mul_(2)


def base_of_several_views_written() -> None:
    whole = leaf() * 1
    left, _right = whole.chunk(2)
    whole.mul_(2)
    left + 1


def view_of_a_custom_function_written() -> None:
    Halves.apply(leaf() * 1).mul_(2)


def one_of_several_views_of_what_needed_no_gradient_written() -> None:
    left, _right = torch.ones(4).chunk(2)
    left.mul_(leaf()[:2])


def view_of_a_custom_function_of_what_needed_no_gradient_written() -> None:
    Halves.apply(torch.ones(4)).mul_(leaf()[:2])


def view_made_without_recording_written() -> None:
    base = leaf() * 1
    with torch.no_grad():
        view = base[:2]
    view.mul_(2)


def view_detached_in_place() -> None:
    (leaf() * 1)[:2].detach_()


def inference_tensor_written() -> None:
    with torch.inference_mode():
        made = torch.ones(2)
    made.mul_(2)


def expanded_tensor_written() -> None:
    torch.ones(1, 3).expand(2, 3).mul_(2)


def memory_read_and_written() -> None:
    row = torch.arange(6.0)
    row[1:].add_(row[:-1])


REFUSED: dict[Callable[[], None], Refusal] = {
    saved_tensor_changed: Refusal("saved tensor changed", expected=0, found=2, shape=(4,), node="Sigmoid"),
    graph_used_up: Refusal("graph used up"),
    leaf_written: Refusal("leaf written"),
    view_of_a_leaf_written: Refusal("view of a leaf written"),
    one_of_several_views_written: Refusal("one of several views written", node="Split"),
    base_of_several_views_written: Refusal("base of several views written", node="Split"),
    view_of_a_custom_function_written: Refusal("view of a custom function written", node="Halves"),
    # PyTorch says "created in no_grad mode" of these two, though nothing of the kind is in the program.
    one_of_several_views_of_what_needed_no_gradient_written: Refusal("one of several views written"),
    view_of_a_custom_function_of_what_needed_no_gradient_written: Refusal("view of a custom function written"),
    view_made_without_recording_written: Refusal("view made without recording written", mode="no_grad"),
    view_detached_in_place: Refusal("view detached in place"),
    inference_tensor_written: Refusal("inference tensor written"),
    expanded_tensor_written: Refusal("expanded tensor written"),
    memory_read_and_written: Refusal("memory read and written"),
}


@pytest.mark.parametrize("program", REFUSED, ids=lambda program: program.__name__)
def test_what_pytorch_refused_is_in_the_record_of_the_call_and_of_the_block(program: Callable[[], None]) -> None:
    with pytest.raises(RuntimeError) as plain:
        program()
    with pytest.raises(RuntimeError) as watched, inplace_magic.watch() as watch:
        program()
    assert str(watched.value) == str(plain.value)
    assert watch.report is not None
    trace = watch.report.trace
    assert trace.refusal == REFUSED[program]
    assert [call.refusal for call in trace.calls if call.error is not None] == [REFUSED[program]]
    assert watch.report.hazards[0].raised


@pytest.mark.parametrize("node", ["Split", "SplitBackward0", "SplitBackward"])
def test_a_node_has_one_name_whichever_way_this_pytorch_writes_it(node: str) -> None:
    """PyTorch 2.6 writes ``SplitBackward0`` and ``HalvesBackward``, 2.13 ``Split`` and ``Halves``."""
    changed = refusal_of(
        f"has been modified by an inplace operation: [torch.FloatTensor [4]], which is output 0 of {node}, is at "
        "version 1; expected version 0 instead."
    )
    view = refusal_of(f"Output 0 of {node} is a view and is being modified inplace.")
    assert [told.node for told in (changed, view) if told is not None] == ["Split", "Split"]


@pytest.mark.parametrize(
    "text", [None, "", "ValueError: a leaf fell", "RuntimeError: mat1 and mat2 cannot be multiplied"]
)
def test_any_other_error_is_no_refusal(text: str | None) -> None:
    assert refusal_of(text) is None


def test_a_report_saved_without_refusals_keeps_its_findings_in_every_language() -> None:
    with pytest.raises(RuntimeError), inplace_magic.watch() as watch:
        leaf_written()
    assert watch.report is not None
    saved = watch.report.to_dict()
    for told in (saved["trace"], *saved["calls"]):
        told.pop("refusal", None)
    older = Report.from_dict(saved)
    assert older.trace.refusal is None
    assert older.hazards == watch.report.hazards
    assert older.in_language("zh").hazards == older.hazards
    assert watch.report.in_language("zh").hazards[0].message != older.hazards[0].message
