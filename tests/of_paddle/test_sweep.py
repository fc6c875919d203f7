"""All operations of the table of saves give the same bits under a watch: values, gradients, versions, random state."""

from __future__ import annotations

import warnings
from typing import Any

import paddle
import pytest
from measure_saves import EXPRESSIONS, inputs

import inplace_magic

IN_ONE = 25
"""Expressions for one test; each is run in a watch of its own."""


def evaluated(expression: str, *, watched: bool) -> tuple[Any, ...]:
    """What an expression and a backward from it leave."""
    names = inputs(None)
    tensors = {name: value for name, value in names.items() if isinstance(value, paddle.Tensor)}
    paddle.seed(11)
    error = None
    results: list[Any] = []

    def run() -> None:
        result = eval(expression, names)
        found = result if isinstance(result, (list, tuple)) else [result]
        results.extend(one for one in found if isinstance(one, paddle.Tensor))
        asking = [one for one in results if not one.stop_gradient and one.dtype == paddle.float32]
        if asking:
            paddle.add_n([one.sum() for one in asking]).backward()

    try:
        if watched:
            with inplace_magic.watch() as w:
                run()
            assert w.report is not None
            assert w.report.faults == [], (expression, w.report.faults)
        else:
            run()
    except Exception as raised:  # an expression of another version of Paddle: the same error then
        error = type(raised).__name__, str(raised)
    return (
        error,
        [(facts(one), one.grad_fn.name() if one.grad_fn is not None else "") for one in results],
        {name: (facts(one), None if one.grad is None else facts(one.grad)) for name, one in tensors.items()},
        paddle.rand([3]).numpy().tobytes(),
    )


def facts(tensor: Any) -> tuple[Any, ...]:
    """What is compared of a tensor."""
    if not tensor._is_initialized() or not tensor.is_dense():
        return ("no dense memory", list(tensor.shape))
    return tensor.numpy().tobytes(), str(tensor.dtype), list(tensor.shape), list(tensor.strides), tensor.inplace_version


@pytest.mark.parametrize("first", range(0, len(EXPRESSIONS), IN_ONE))
def test_an_operation_does_the_same(first: int) -> None:
    warnings.simplefilter("ignore")
    for expression in EXPRESSIONS[first : first + IN_ONE]:
        plain, watched = evaluated(expression, watched=False), evaluated(expression, watched=True)
        if "Var (" in str(plain[0]) or "generated_tensor" in str(plain[0]):
            plain, watched = ((text[0][0], *text[1:]) for text in (plain, watched))  # Paddle numbers its tensors
        assert plain == watched, expression
