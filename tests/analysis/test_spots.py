"""A statement of a program: what is around it, and what its names were bound to."""

from __future__ import annotations

import ast

import pytest
from builders import made, site, tensor

from inplace_magic.record.trace import Trace
from inplace_magic.source.expressions import operands_given
from inplace_magic.source.spots import Spot, spot_of

TEXT = (
    "def run(frames, grads):",
    "    best, count = frames, len(grads)",
    "    for i, g in enumerate(grads):",
    "        frame = frames[i]",
    "        if loss < best:",
    "            best = loss",
    "            kept = frame",
    "        frame.add_(g)",
)


def spot(line: int) -> Spot:
    found = spot_of(Trace(cell=7, source=TEXT), site(line, TEXT))
    assert found is not None
    return found


def test_what_a_name_was_bound_to_is_that_of_the_last_statement_above() -> None:
    last = spot(8)
    assert {name: ast.unparse(value) for name in ("frame", "best", "count") if (value := last.value_of(name))} == {
        "frame": "frames[i]",
        "best": "loss",
        "count": "len(grads)",
    }
    assert last.value_of("grads") is None, "a parameter"
    assert spot(4).value_of("frame") is None, "bound here, and not above"


@pytest.mark.parametrize(("expression", "way"), [("frame", ("frames", "")), ("g", ("grads", "")), ("i", ("", ""))])
def test_a_name_is_followed_to_the_object_that_it_was_taken_from(expression: str, way: tuple[str, str]) -> None:
    assert spot(8).way_to(ast.parse(expression, mode="eval").body) == way


def test_a_moment_is_the_best_so_far_where_its_condition_is_set_anew() -> None:
    assert spot(7).keeps_the_best
    assert not spot(8).keeps_the_best


@pytest.mark.parametrize(
    ("expression", "names"),
    [("torch.cat([a, b], dim=1)", ["a", "b"]), ("torch.add(a, b.shape, b)", ["a", "b"]), ("torch.cat(a)", None)],
)
def test_each_tensor_is_paired_with_its_operand_or_none_is(expression: str, names: list[str] | None) -> None:
    place = site(1, (expression,), expression=expression)
    pairs = operands_given(made(0, "torch.cat", place, (tensor(1), tensor(2)), (tensor(3),)))
    told = [(meta.tensor, ast.unparse(node)) for meta, node in pairs] if pairs is not None else None
    assert told == (None if names is None else list(zip((1, 2), names, strict=True)))
