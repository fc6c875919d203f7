"""What any dispatch mode changes, ours as well as an empty one; listed in ``docs/no-harm.md``."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import AbstractContextManager, nullcontext
from functools import cache, partial
from typing import Any

import pytest
import torch
from torch.autograd import forward_ad

import inplace_magic
from tests.empty_modes import EmptyDispatchMode


class Own(torch.Tensor):
    pass


@pytest.mark.parametrize(
    ("around", "raises"),
    [
        (nullcontext(), False),
        (inplace_magic.watch(), False),
        (EmptyDispatchMode(), True),
        (inplace_magic.watch(level="ops"), False),
    ],
    ids=["plain", "calls", "empty dispatch mode", "ops, which steps down to calls"],
)
def test_a_subclass_made_of_a_tensor_raises_under_any_dispatch_mode_and_no_watch_puts_one_on(
    around: AbstractContextManager[Any], raises: bool
) -> None:
    with around:
        x = torch.ones(2)
        assert type(x.as_subclass(Own)) is Own
        if raises:
            with pytest.raises(RuntimeError, match="already associated to a python object"):
                Own(x)
        else:
            assert type(Own(x)) is Own


LAZY = """
import json, torch, torch._lazy.ts_backend, inplace_magic
from contextlib import nullcontext
from functools import partial
from torch.utils._python_dispatch import TorchDispatchMode

class Empty(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))

torch._lazy.ts_backend.init()
watched = partial(inplace_magic.watch, level="calls"), partial(inplace_magic.watch, level="ops")
said = []
for around in (nullcontext, watched[0], Empty, watched[1]):
    with around():
        x = torch.ones(3, 4, device="lazy")
        x.add_(1)
        try:
            said.append(str(x.t().shape))
        except RuntimeError as error:
            said.append("no implementation" in str(error))
print(json.dumps(said))
"""


@cache
def lazily() -> list[Any]:
    """What a view of a lazy tensor is told as: plainly, watched, under an empty dispatch mode, and at level ``ops``."""
    done = subprocess.run([sys.executable, "-c", LAZY], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    said: list[Any] = json.loads(done.stdout)
    return said


@pytest.mark.parametrize(
    ("place", "said"),
    [(0, "torch.Size([4, 3])"), (1, "torch.Size([4, 3])"), (2, True), (3, True)],
    ids=["plain", "calls", "empty dispatch mode", "ops"],
)
def test_lazy_tensors_live_and_their_views_raise_under_any_dispatch_mode(place: int, said: Any) -> None:
    assert lazily()[place] == said


MODES = {
    "plain": nullcontext,
    "calls": inplace_magic.watch,
    "empty dispatch mode": EmptyDispatchMode,
    "ops": partial(inplace_magic.watch, level="ops"),
}
ANY_DISPATCH = ("empty dispatch mode", "ops")


@pytest.mark.parametrize("around", MODES)
def test_a_sparse_gradient_is_copied_and_not_taken_over_under_any_dispatch_mode(around: str) -> None:
    given = []

    class Sum(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
            return one + other

        @staticmethod
        def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:  # type: ignore[override]
            given.append(grad._values().data_ptr())
            return grad, grad

    tables = [torch.ones(10, 3, requires_grad=True) for _ in range(2)]
    with MODES[around]():
        rows = torch.tensor([[1, 2]])
        torch.nn.functional.embedding_bag(rows, Sum.apply(*tables), sparse=True, mode="sum").sum().backward()
    gradients = [table.grad for table in tables if table.grad is not None]
    assert [gradient.to_dense()[1].tolist() for gradient in gradients] == [[1.0] * 3] * 2
    taken_over = given[0] in [gradient._values().data_ptr() for gradient in gradients]
    assert taken_over is (around not in ANY_DISPATCH)


@pytest.mark.parametrize("around", MODES)
def test_a_profiler_lists_each_op_twice_under_any_dispatch_mode(around: str) -> None:
    with MODES[around](), torch.profiler.profile() as profiled:
        torch.ones(3).add(1)
    listed = sum(event.name == "aten::add" for event in profiled.events() or ())
    assert listed == (2 if around in ANY_DISPATCH else 1)


@pytest.mark.parametrize("around", MODES)
def test_a_subclass_that_dispatches_again_under_a_dual_level_meets_an_assertion_of_torchs_under_any_dispatch_mode(
    around: str,
) -> None:
    class Again(torch.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            with torch.overrides.enable_reentrant_dispatch():
                torch.ones(1, requires_grad=True).exp()
            with torch._C._DisableTorchDispatch():
                return func(*args, **(kwargs or {}))

    made = torch.Tensor._make_subclass(Again, torch.tensor(1.0))
    raised = pytest.raises(RuntimeError, match="INTERNAL ASSERT FAILED") if around in ANY_DISPATCH else nullcontext()
    with MODES[around](), raised, forward_ad.dual_level():
        forward_ad.make_dual(made, torch.ones(()))
