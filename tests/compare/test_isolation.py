"""Neither run sees the other's writes, and the user's own objects, generators and settings stay as they were."""

from __future__ import annotations

import abc
import enum
import random
from collections.abc import Callable
from typing import Any, ClassVar

import pytest
import torch
from torch import nn

import inplace_magic
from inplace_magic import CompareError, Comparison, CopyError

LOG: list[float] = []
WEIGHT = torch.ones(3)
COUNTER = 0


class Scale(nn.Module):
    """Keeps state in all the places where people keep it."""

    shared = torch.zeros(2)
    calls = 0

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(2))
        self.register_buffer("seen", torch.zeros(2))
        self.seen: torch.Tensor
        self.act = nn.ReLU(inplace=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        Scale.calls += 1
        self.shared += 1
        self.seen += x.detach()
        return self.act(x * self.weight)


def compare(first: Callable[..., Any], second: Callable[..., Any] | None = None, inputs: Any = ()) -> Comparison:
    return inplace_magic.compare(first, second or first, inputs=inputs, repeats=2)


def test_a_module_its_buffers_gradients_mode_and_class_are_untouched() -> None:
    module = Scale().eval()
    module(torch.ones(2)).sum().backward()
    state = {name: value.clone() for name, value in module.state_dict().items()}
    versions = [value._version for value in module.state_dict().values()]
    gradient, kept = module.weight.grad, module.weight.grad.clone()  # type: ignore[union-attr]
    shared, calls = Scale.shared.clone(), Scale.calls

    def step(module: Scale) -> torch.Tensor:
        module.train()
        module(torch.full((2,), 3.0)).sum().backward()
        with torch.no_grad():
            module.weight -= 1.0
        return module.seen

    result = compare(step, inputs=module)
    assert result.agreement is not None
    assert result.agreement.differences == ()
    assert not module.training
    assert module.weight.grad is gradient
    assert torch.equal(gradient, kept)  # type: ignore[arg-type]
    assert all(torch.equal(value, state[name]) for name, value in module.state_dict().items())
    assert [value._version for value in module.state_dict().values()] == versions
    assert (Scale.calls, Scale.shared.tolist()) == (calls, shared.tolist())


def test_globals_closures_defaults_and_lists_are_untouched_and_fresh_in_each_run() -> None:
    captured = torch.zeros(2)

    def step(seen: list[int] = []) -> Any:  # noqa: B006  a mutable default is what is tested
        global COUNTER
        COUNTER += 1
        seen.append(1)
        LOG.append(1.0)
        WEIGHT.mul_(2)
        captured.add_(1)
        return COUNTER, len(seen), len(LOG), WEIGHT.clone(), captured.clone()

    result = compare(step)
    assert result.agreement is not None
    assert result.agreement.differences == ()
    assert (COUNTER, LOG, WEIGHT.tolist(), captured.tolist()) == (0, [], [1.0] * 3, [0.0] * 2)
    assert step.__defaults__ == ([],)


def test_a_nonlocal_number_is_put_back() -> None:
    number = 0

    def step() -> int:
        nonlocal number
        number += 1
        return number

    result = compare(step)
    assert number == 0
    assert result.agreement is not None
    assert result.agreement.differences == ()


def test_all_generators_are_as_before_and_both_variants_draw_the_same_numbers() -> None:
    numpy = pytest.importorskip("numpy")
    own = torch.Generator().manual_seed(3)
    before = torch.get_rng_state(), random.getstate(), numpy.random.get_state()[1].tolist(), own.get_state()

    def draw(own: torch.Generator) -> Any:
        return torch.rand(2), random.random(), float(numpy.random.rand()), torch.rand(2, generator=own)

    result = compare(draw, inputs=own)
    assert result.agreement is not None
    assert result.agreement.differences == ()
    assert result.agreement.count("output") == 4
    assert torch.equal(before[0], torch.get_rng_state())
    assert before[1:3] == (random.getstate(), numpy.random.get_state()[1].tolist())
    assert torch.equal(before[3], own.get_state())


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is one")
def test_a_device_that_is_not_there_is_not_seeded(monkeypatch: pytest.MonkeyPatch) -> None:
    seeds: list[int] = []
    monkeypatch.setattr(torch.cuda, "manual_seed_all", seeds.append)
    result = compare(lambda: torch.rand(2))
    assert result.agreement is not None
    assert result.agreement.differences == ()
    assert seeds == []


def test_settings_are_put_back_also_after_an_error() -> None:
    def leak() -> None:
        torch.set_grad_enabled(False)
        torch.set_default_dtype(torch.float64)
        raise RuntimeError("leaked")

    def fine() -> torch.Tensor:
        return torch.ones(1) * (2 if torch.is_grad_enabled() else 3)

    result = compare(leak, fine)
    assert torch.is_grad_enabled()
    assert torch.get_default_dtype() is torch.float32
    assert result.first.error == "RuntimeError: leaked"
    assert result.second.error is None


def test_an_interrupt_leaves_everything_in_place() -> None:
    module = Scale()

    def stop(module: Scale) -> None:
        module.weight.data.zero_()
        WEIGHT.zero_()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compare(stop, inputs=module)
    assert WEIGHT.tolist() == [1.0] * 3
    assert module.weight.tolist() == [1.0] * 2
    assert module.act.inplace is True


def test_what_is_shared_stays_shared_and_a_view_counts_with_its_base() -> None:
    module = nn.Linear(2, 2, bias=False)
    optimizer = torch.optim.SGD(module.parameters(), lr=1.0)
    base = torch.zeros(3)
    before = module.weight.detach().clone()

    def step(module: nn.Linear, optimizer: torch.optim.Optimizer, base: torch.Tensor, view: torch.Tensor) -> None:
        module(torch.ones(1, 2)).sum().backward()
        optimizer.step()
        version = base._version
        view.add_(1)
        moved = (before - module.weight).round().tolist()
        raise LookupError(f"{moved} {base.tolist()} {base._version - version}")

    with pytest.raises(CompareError, match=r"\[\[1.0, 1.0\], \[1.0, 1.0\]\] \[1.0, 1.0, 0.0\] 1"):
        compare(step, inputs=(module, optimizer, base, base[:2]))
    assert base.tolist() == [0.0] * 3
    assert torch.equal(module.weight, before)


class Kind(enum.Enum):
    """Members that nobody can set again."""

    NOISE = "noise"


class Sampler(abc.ABC):
    """An abstract class: Python keeps a register of its subclasses at it, which cannot be copied."""

    calls: ClassVar[list[float]] = []

    @abc.abstractmethod
    def sample(self) -> torch.Tensor: ...


class Ones(Sampler):
    def sample(self) -> torch.Tensor:
        self.calls.append(1.0)
        return torch.ones(len(self.calls))


@torch.jit.script
def scaled(x: torch.Tensor) -> torch.Tensor:
    return x * 2


def test_members_of_an_enum_abstract_classes_and_scripted_functions_can_be_in_reach() -> None:
    sampler = Ones()

    def draw(kind: Kind) -> torch.Tensor:
        assert kind is Kind.NOISE
        return scaled(sampler.sample()) / 2

    result = compare(draw, lambda kind: torch.ones(1) if kind is Kind.NOISE else draw(kind), inputs=(Kind.NOISE,))
    assert result.agreement is not None
    assert not result.agreement.differences
    assert Sampler.calls == []


class Around(torch.optim.SGD):
    """An optimizer with attributes of its own, which ``Optimizer.__getstate__`` leaves out."""

    def __init__(self, params: Any, inner: torch.optim.Optimizer | None = None) -> None:
        super().__init__(params, lr=1.0)
        self.inner, self.slow = inner, [torch.zeros(1)]


def test_the_copy_of_an_optimizer_has_its_own_attributes_and_hooks() -> None:
    weight, steps = nn.Parameter(torch.ones(1)), [0.0]
    inner = Around([weight])
    optimizer = Around([weight], inner)
    inner.register_step_post_hook(lambda *_: steps.append(1.0))
    scheduler = torch.optim.lr_scheduler.ConstantLR(optimizer)  # whose `step` over the original's belongs to that

    def step(optimizer: Around, scheduler: Any) -> None:
        assert optimizer.inner is not None
        (held,) = optimizer.param_groups[0]["params"]
        held.grad = torch.ones(1)
        optimizer.slow[0] += 1
        optimizer.inner.step()
        optimizer.step()
        raise LookupError(f"{held.item():.2f} {optimizer.slow[0].item()} {len(steps)}")

    with pytest.raises(CompareError, match=r"-0\.33 1\.0 2"):
        compare(step, inputs=(optimizer, scheduler))
    assert (weight.item(), optimizer.slow[0].item(), steps) == (1.0, 0.0, [0.0])


def test_a_result_with_a_graph_cannot_be_copied_and_is_named() -> None:
    hidden = torch.ones(2, requires_grad=True) * 2

    def use() -> torch.Tensor:
        return hidden + 1

    with pytest.raises(
        CopyError, match=r"`use.hidden` cannot be copied: it is a result with a graph \(2, MulBackward0\)"
    ):
        compare(use)


@pytest.mark.parametrize(
    ("value", "reason"),
    [((i for i in range(3)), "generator"), (open(__file__, encoding="utf-8"), "TextIOWrapper")],  # noqa: SIM115
)
def test_what_python_cannot_copy_is_named(value: Any, reason: str) -> None:
    with pytest.raises(CopyError, match=reason):
        compare(lambda given: given, inputs=(value,))


def test_an_array_on_a_tensors_memory_would_lose_it_so_it_stops() -> None:
    numpy = pytest.importorskip("numpy")
    array = numpy.zeros(3, dtype="float32")
    tensor = torch.from_numpy(array)
    with pytest.raises(CopyError, match="shares its memory with a tensor"):
        compare(lambda a, t: t.add_(1), inputs=(array[1:], tensor))
    assert compare(lambda a: torch.from_numpy(a) + 1, inputs=(array,)).agreement is not None


def test_a_view_with_elements_of_another_type_is_a_view_of_the_copied_base() -> None:
    waves = torch.arange(4.0).to(torch.complex64)
    parts, bits = torch.view_as_real(waves), waves.real

    def raised(waves: torch.Tensor, parts: torch.Tensor, bits: torch.Tensor) -> torch.Tensor:
        parts[:, 1] = 2.0
        bits += 1
        return waves.clone()

    made = compare(raised, lambda waves, *_: waves.real + 1 + 2j, inputs=(waves, parts, bits))

    assert made.agreement is not None
    assert [each.name for each in made.agreement.differences if each.group == "output"] == []
    assert waves.tolist() == [0, 1, 2, 3]


def test_hooks_on_a_leaf_run_on_copies_of_what_they_hold() -> None:
    seen: list[torch.Tensor] = []
    weight = torch.ones(2, requires_grad=True)
    weight.register_hook(seen.append)

    def cleared(leaf: torch.Tensor) -> None:
        assert leaf.grad is not None
        leaf.grad.zero_()

    weight.register_post_accumulate_grad_hook(cleared)

    made = compare(lambda w: w * 2, lambda w: w * 3, inputs=weight)

    assert made.agreement is not None
    assert [each.name for each in made.agreement.differences] == ["result"], "the hook clears both gradients"
    assert seen == []
    assert weight.grad is None
    assert len(weight._backward_hooks) == 1  # type: ignore[arg-type]


def test_a_hook_that_cannot_be_copied_is_refused_in_a_sentence() -> None:
    weight = torch.ones(2, requires_grad=True)
    rows = (row for row in range(3))
    weight.register_hook(lambda grad, rows=rows: grad * next(rows))
    with pytest.raises(CopyError, match="generator"):
        compare(lambda w: w * 2, inputs=weight)


def test_a_handle_takes_the_hook_off_its_copy_alone() -> None:
    weight = torch.ones(2, requires_grad=True)
    handle = weight.register_hook(lambda grad: grad * 2)

    def unhooked(w: torch.Tensor) -> torch.Tensor:
        handle.remove()
        return w * 1

    made = compare(unhooked, lambda w: w * 1, inputs=weight)

    assert made.agreement is not None
    assert [each.group for each in made.agreement.differences] == ["gradient"]
    assert len(weight._backward_hooks) == 1  # type: ignore[arg-type]
