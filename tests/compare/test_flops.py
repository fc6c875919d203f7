"""Counting: what PyTorch's counter misses is added, and twins count alike."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch.nn import functional as F
from torch.utils.flop_counter import FlopCounterMode

from inplace_magic.rerun.flops import counting

A, B, C = torch.ones(4, 5), torch.ones(5, 6), torch.ones(4, 6)
IN_PLACE = {
    "addmm": (lambda: torch.addmm(C, A, B), lambda: C.clone().addmm_(A, B), 120),
    "baddbmm": (
        lambda: torch.baddbmm(C[None], A[None], B[None]),
        lambda: C[None].clone().baddbmm_(A[None], B[None]),
        120,
    ),
    "addbmm": (lambda: torch.addbmm(C, A[None], B[None]), lambda: C.clone().addbmm_(A[None], B[None]), 120),
    "addmv": (lambda: torch.addmv(C[:, 0], A, B[:, 0]), lambda: C[:, 0].clone().addmv_(A, B[:, 0]), 20),
    "addr": (lambda: torch.addr(C, C[:, 0], C[0]), lambda: C.clone().addr_(C[:, 0], C[0]), 24),
}


def count(function: Callable[[], object]) -> tuple[int, int]:
    with counting() as counts:
        function()
    assert counts.uncounted == {}
    rows = counts.rows()
    return sum(row.macs for row in rows), sum(row.elements for row in rows)


@pytest.mark.parametrize("name", IN_PLACE)
def test_a_product_added_in_place_counts_as_the_one_that_is_not(name: str) -> None:
    plain, in_place, macs = IN_PLACE[name]
    assert count(plain) == count(in_place)
    assert count(in_place)[0] == macs


def test_pytorchs_counter_still_misses_what_we_add() -> None:
    """When this fails, torch has learned it: then take the formula out."""
    for _, in_place, _ in IN_PLACE.values():
        with FlopCounterMode(display=False) as counter:
            in_place()
        assert counter.get_total_flops() == 0


@pytest.mark.parametrize("grad", [True, False])
def test_products_agree_with_pytorchs_counter(grad: bool) -> None:
    layers = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.Linear(8, 3))
    with torch.set_grad_enabled(grad):
        with FlopCounterMode(display=False) as counter:
            layers(torch.ones(2, 6))
        assert 2 * count(lambda: layers(torch.ones(2, 6)))[0] == counter.get_total_flops() == 2 * 2 * (48 + 24)


@pytest.mark.parametrize("inference", [True, False])
def test_composite_operators_are_counted_in_inference_mode_too(inference: bool) -> None:
    weight = torch.ones(3, 6)
    with torch.inference_mode(inference):
        assert count(lambda: F.linear(torch.ones(2, 6), weight, torch.ones(3)))[0] == 36


@pytest.mark.parametrize("name", ["relu", "silu", "hardswish", "elu", "hardtanh", "leaky_relu", "mish", "hardsigmoid"])
def test_an_activation_counts_one_operation_per_element_in_both_forms(name: str) -> None:
    function = getattr(F, name)
    x = torch.randn(2, 7)
    assert count(lambda: function(x)) == count(lambda: function(x.clone(), inplace=True)) == (0, 14)


def test_attention_and_lstm_of_the_cpu_are_counted() -> None:
    query = torch.ones(1, 2, 4, 8)
    assert count(lambda: F.scaled_dot_product_attention(query, query, query))[0] == 2 * (2 * 4 * 4 * 8)
    cells = torch.nn.LSTM(3, 4)
    assert count(lambda: cells(torch.ones(2, 1, 3)))[0] == 2 * 4 * 4 * (3 + 4)


def test_an_operator_that_is_not_known_is_named() -> None:
    with counting() as counts:
        torch.linalg.svdvals(torch.ones(2, 2))
    assert counts.uncounted == {"_linalg_svd": 1}


def test_counting_leaves_no_hook_behind_after_an_error() -> None:
    hooks = torch.nn.modules.module
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"), counting():
        torch.nn.Linear(2, 2)(torch.ones(1, 3))
    assert not hooks._global_forward_hooks
    assert not hooks._global_forward_pre_hooks


def test_a_gradient_penalty_can_be_counted() -> None:
    """PyTorch's own counter, entered as a mode, raises here."""
    layer = torch.nn.Linear(3, 1)

    def penalty() -> None:
        x = torch.ones(2, 3, requires_grad=True)
        (grad,) = torch.autograd.grad(layer(x).sum(), x, create_graph=True)
        grad.norm().backward()

    macs, _ = count(penalty)
    assert macs > 0


@pytest.mark.parametrize("name", ["mse_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy"])
def test_a_loss_counts_its_input_and_its_backward_the_gradient(name: str) -> None:
    x = torch.full((2, 3), 0.5, requires_grad=True)

    def step() -> None:
        getattr(F, name)(x, torch.ones(2, 3)).backward()

    assert count(step) == (0, 6 + 6)
