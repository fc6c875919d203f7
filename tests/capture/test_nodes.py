"""Autograd nodes and what they save, read without unpacking, holding or changing anything."""

from __future__ import annotations

import gc
from typing import Any

import pytest
import torch
from capture.watching import LEVELS, call_of, node_of, report_of, saved_by, trace_of
from torch.utils.checkpoint import checkpoint

import inplace_magic
from inplace_magic.capture.records import KEY, Token
from inplace_magic.capture.torch import describe_nodes, unpacking


class Product(torch.autograd.Function):
    """Saves both of its inputs."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, factor: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(x, factor)
        return x * factor

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> Any:
        x, factor = ctx.saved_tensors
        return grads[0] * factor, grads[0] * x


@pytest.mark.parametrize("level", LEVELS)
def test_a_graph_under_checkpoint_is_not_computed_again_by_the_watch(level: str) -> None:
    ran = []

    def block(t: torch.Tensor) -> torch.Tensor:
        ran.append("forward")
        return t.sigmoid().exp()

    x = torch.ones(2, requires_grad=True)
    with inplace_magic.watch(level=level) as watch:
        y = checkpoint(block, x, use_reentrant=False)
        total = y.sum()
    assert ran == ["forward"]
    assert all(saved.hooked for saved in saved_by(watch, "ExpBackward0").values())
    total.backward()
    assert ran == ["forward", "forward"]


@pytest.mark.parametrize("level", LEVELS)
def test_nothing_that_hooks_packed_is_unpacked_before_backward(level: str) -> None:
    log: list[str] = []

    def pack(tensor: torch.Tensor) -> torch.Tensor:
        log.append("pack")
        return tensor.clone()

    def unpack(tensor: torch.Tensor) -> torch.Tensor:
        log.append("unpack")
        return tensor

    x = torch.ones(2, requires_grad=True)
    with inplace_magic.watch(level=level) as watch:
        with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
            y = x.exp()
        y.mul(2)
    assert log == ["pack"]
    (saved,) = saved_by(watch, "ExpBackward0").values()
    assert (saved.hooked, saved.version, saved.storage, saved.shape) == (True, None, None, None)
    y.sum().backward()
    assert log == ["pack", "unpack"]


@pytest.mark.parametrize("level", LEVELS)
def test_the_version_check_of_pytorch_stays_on(level: str) -> None:
    def program() -> None:
        y = torch.ones(2, requires_grad=True).sigmoid()
        y.mul_(2)
        y.sum().backward()

    with pytest.raises(RuntimeError) as plain:
        program()
    with pytest.raises(RuntimeError) as watched, inplace_magic.watch(level=level):
        program()
    assert str(watched.value) == str(plain.value)


def test_what_a_call_saved_is_known_with_its_version() -> None:
    x = torch.ones(2, requires_grad=True)
    with inplace_magic.watch() as watch:
        a = torch.ones(2).add_(1)
        b = x * a
        b.sigmoid()
    factor = saved_by(watch, "MulBackward0")["other"]
    made = next(call for call in trace_of(watch).calls if call.name.endswith("mul"))
    assert node_of(watch, "MulBackward0").call == made.index
    assert (factor.tensor, factor.version) == (made.inputs[1].tensor, 1)
    assert (factor.shape, factor.dtype, factor.nbytes) == ((2,), "float32", 8)
    result = saved_by(watch, "SigmoidBackward0")["result"]
    output = call_of(watch, "Tensor.sigmoid").outputs[0]
    assert (result.storage, result.counter, result.version) == (output.storage, output.counter, 0)


def test_the_graph_hangs_together_down_to_its_leaves() -> None:
    x = torch.ones(2, requires_grad=True)
    with inplace_magic.watch() as watch:
        x.sigmoid().exp().sum()
    following = {node.name: node for node in trace_of(watch).nodes}
    assert following["SumBackward0"].next == (following["ExpBackward0"].node,)
    assert following["ExpBackward0"].next == (following["SigmoidBackward0"].node,)
    assert following["SigmoidBackward0"].next == (following["AccumulateGrad"].node,)
    leaf = call_of(watch, "Tensor.sigmoid").inputs[0]
    assert following["AccumulateGrad"].variable == leaf.tensor
    order = [following[name].sequence for name in ("SigmoidBackward0", "ExpBackward0", "SumBackward0")]
    assert order == sorted(order, key=lambda number: number or 0)


def test_a_call_that_makes_several_nodes_made_them_all() -> None:
    x = torch.randn(3, 4, requires_grad=True)
    with inplace_magic.watch() as watch:
        torch.nn.functional.cross_entropy(x, torch.tensor([0, 1, 2]))
    call = call_of(watch, "F.cross_entropy")
    made = {node.name for node in trace_of(watch).nodes if node.call == call.index}
    assert {"LogSoftmaxBackward0", "NllLossBackward0"} <= made


@pytest.mark.skipif(unpacking.NEEDED, reason="this PyTorch shows what was saved only right after the call")
def test_a_custom_function_that_is_found_late_has_the_version_that_it_saved() -> None:
    x = torch.ones(2, requires_grad=True)
    with inplace_magic.watch() as watch:
        factor = torch.ones(2).add_(1)
        y = Product.apply(x, factor)
        factor.mul_(2)
        y.sum()
    of_product = saved_by(watch, "ProductBackward")
    written = call_of(watch, "Tensor.mul_").mutations[0]
    saved = next(each for each in of_product.values() if each.counter == written.counter)
    assert (written.version_before, written.version_after) == (1, 2)
    assert saved.version == 1


@pytest.mark.skipif(unpacking.NEEDED, reason="this PyTorch shows what was saved only right after the call")
def test_a_version_saved_before_the_watch_is_unknown_unless_nothing_was_ever_written() -> None:
    x = torch.ones(2, requires_grad=True)
    written, untouched = torch.ones(2).add_(1), torch.ones(2)
    y = x * written
    z = x.add(1) * untouched
    with inplace_magic.watch() as watch:
        y.sum()
        z.sum()
    versions = [saved.version for saved in trace_of(watch).saved if saved.name == "other"]
    assert sorted(versions, key=str) == [0, None]


def test_a_write_through_a_view_gives_the_base_new_history() -> None:
    x = torch.ones(4, requires_grad=True)
    with inplace_magic.watch() as watch:
        y = x * 1
        row = y[:2]
        row.mul_(3)
        y.sum()
    write = call_of(watch, "Tensor.mul_")
    (mutation,) = write.mutations
    view = call_of(watch, "Tensor.__getitem__").outputs[0]
    base = call_of(watch, "Tensor.__getitem__").inputs[0]
    assert mutation.tensor == view.tensor
    assert mutation.counter == base.counter
    assert (mutation.version_before, mutation.version_after) == (0, 1)
    after = call_of(watch, "Tensor.sum").inputs[0]
    assert (after.tensor, after.version) == (base.tensor, 1)
    assert node_of(watch, "CopySlices").node == after.node != base.node


def test_a_node_ends_when_it_dies_and_is_pending_while_backward_would_use_it() -> None:
    x = torch.ones(2, requires_grad=True)
    with inplace_magic.watch() as watch:
        gone = x.exp()
        del gone
        used = x.sigmoid().sum()
        used.backward()
        waiting = x.tanh()
    assert waiting.requires_grad
    assert node_of(watch, "ExpBackward0").ended == 1
    assert (node_of(watch, "SigmoidBackward0").ended, node_of(watch, "SigmoidBackward0").pending) == (None, False)
    assert (node_of(watch, "TanhBackward0").ended, node_of(watch, "TanhBackward0").pending) == (None, True)


def test_no_mark_of_ours_stays_on_the_graph() -> None:
    x = torch.ones(2, requires_grad=True)
    with inplace_magic.watch():
        y = x.exp().mul(2)
    assert y.grad_fn is not None
    nodes: list[Any] = [y.grad_fn]
    while nodes:
        node = nodes.pop()
        assert node.metadata == {}
        nodes += [behind for behind, _ in node.next_functions if behind is not None]


def test_an_output_that_its_own_node_keeps_is_known_as_the_tensor_that_the_user_got() -> None:
    with inplace_magic.watch() as watched:
        scores = torch.tensor([3.0, 1.0, 2.0], requires_grad=True)
        _best, places = (scores * 2).topk(2)
        places += 1
    (saved,) = (entry for entry in watched.report.trace.saved if entry.name == "indices")
    added = next(call for call in watched.report.calls if call.name == "Tensor.add_")
    assert saved.tensor == added.mutations[0].tensor
    assert saved.counter == added.mutations[0].counter


KEEPS = {
    "matmul": lambda x: x @ x.detach(),
    "linear": lambda x: torch.nn.functional.linear(x, x.detach(), torch.zeros(2)),
    "conv": lambda x: torch.nn.functional.conv2d(x.view(1, 1, 2, 2), torch.ones(1, 1, 1, 1)),
    "norm": lambda x: torch.nn.functional.layer_norm(x, (2,)),
    "batchnorm": lambda x: torch.nn.functional.batch_norm(x, None, None, training=True),
    "softmax": lambda x: x.softmax(1),
    "relu": lambda x: x.relu(),
    "log": lambda x: x.log(),
}


@pytest.mark.skipif(unpacking.NEEDED, reason="this PyTorch shows what was saved only right after the call")
@pytest.mark.parametrize("name", KEEPS)
def test_a_node_is_spent_once_backward_let_go_of_what_it_kept(name: str) -> None:
    result = KEEPS[name](torch.rand(2, 2, requires_grad=True))
    node = result.grad_fn
    assert not describe_nodes.is_spent(node)
    result.sum().backward(retain_graph=True)
    assert not describe_nodes.is_spent(node)
    result.sum().backward()
    assert describe_nodes.is_spent(node)


def test_a_node_that_never_kept_anything_is_not_spent() -> None:
    bias = torch.zeros(2, requires_grad=True)
    for result in (torch.addmm(bias, torch.ones(2, 2), torch.ones(2, 2)), bias + 1, bias * 2, bias.sum()):
        assert not describe_nodes.is_spent(result.grad_fn)


@pytest.mark.parametrize("used", [True, False])
def test_nobody_runs_backward_behind_which_backward_has_been(used: bool) -> None:
    """The gradient of a cross-entropy by hand: ``dlogits = softmax(logits); dlogits[rows, labels] -= 1``."""
    if unpacking.NEEDED and not used:
        pytest.skip("this PyTorch shows what was saved only right after the call")
    logits = torch.rand(3, 4) @ torch.rand(4, 5, requires_grad=True)
    if used:
        torch.nn.functional.cross_entropy(logits, torch.tensor([0, 1, 2])).backward()
    with inplace_magic.watch() as watch:
        by_hand = logits.softmax(1)
        by_hand[range(3), [0, 1, 2]] -= 1
    assert [hazard.code for hazard in report_of(watch).hazards] == ([] if used else ["saved-tensor-overwritten"])
    if used:
        with pytest.raises(RuntimeError):
            by_hand.sum().backward()


@pytest.mark.parametrize("collected", [False, True], ids=["young", "old"])
def test_a_node_that_no_read_may_lead_to_loses_our_token_all_the_same(collected: bool) -> None:
    x = torch.ones(3, requires_grad=True)
    with inplace_magic.watch():
        y = x * 1
        view = y[1:]
        y.mul_(2)  # to ask the view for its node now would give it another one
        if collected:
            gc.collect()

    holders = (held for held in gc.get_objects() if type(held) is dict and KEY in held)
    assert [held for held in holders if isinstance(held[KEY], Token)] == []
    assert view._version == 1
