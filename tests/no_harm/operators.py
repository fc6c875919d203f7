"""Programs from PyTorch's own operator database: every operator, its in-place variant, its errors, foreach."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import torch
from no_harm.differential import Program
from no_harm.exclusions import VALUES_NOT_COMPARED
from no_harm.snapshots import seed_everything, tensors_of


@cache
def operator_database(name: str = "op_db") -> tuple[Any, ...]:
    """One list of `torch.testing._internal.common_methods_invocations`, in a fixed order."""
    from torch.testing._internal import common_methods_invocations as database
    from torch.testing._internal import common_utils
    from torch.testing._internal.opinfo import core

    # At every sample the stack is searched for the test of unittest that is running, by `inspect`, which takes longer
    # than the sample: none is.
    core.extract_test_fn = common_utils.extract_test_fn = lambda: None
    # Importing it freezes torch.backends' flags for the whole process; tests of others set them.
    torch.backends.__allow_nonbracketed_mutation_flag = True
    return tuple(getattr(database, name))


def full_name(op: Any) -> str:
    """``sum``, ``linalg.norm.subgradients_at_zero``."""
    return f"{op.name}.{op.variant_test_name}" if op.variant_test_name else str(op.name)


def dtype_for(op: Any) -> torch.dtype | None:
    """float32, else the first of complex64, int64 and whatever else the operator supports on the CPU."""
    supported = op.supported_dtypes("cpu")
    for dtype in (torch.float32, torch.complex64, torch.int64, torch.float64, torch.bool):
        if dtype in supported:
            return dtype
    return min(supported, key=str, default=None)


class _Samples:
    """Equal copies of one operator's samples, as many as there are runs; each run takes a sample of its own."""

    def __init__(self, generate: Callable[[], Any], limit: int) -> None:
        self._generate = generate
        self._limit = limit
        self._copies: list[list[Any]] = [self._make()]
        self._used: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._copies[0])

    def take(self, index: int) -> Any:
        """Sample `index` of the first copy in which it is unused."""
        turn = self._used.get(index, 0)
        self._used[index] = turn + 1
        if turn == len(self._copies):
            self._copies.append(self._make())
        sample, self._copies[turn][index] = self._copies[turn][index], None
        return sample

    def _make(self) -> list[Any]:
        seed_everything()
        every = list(self._generate())
        step = max(1, -(-len(every) // self._limit))
        return every[::step]


def operator_programs(limit: int) -> Iterator[tuple[str, Iterator[Program]]]:
    """Out of place, with backward where there is one: (operator, its programs), at most `limit` each."""
    for op in operator_database():
        dtype = dtype_for(op)
        if dtype is not None:
            yield full_name(op), _out_of_place(op, dtype, limit)


def inplace_programs(limit: int) -> Iterator[tuple[str, Iterator[Program]]]:
    """In-place variants, written into a non-leaf so that backward reaches a leaf."""
    for op in operator_database():
        dtype = dtype_for(op)
        if op.inplace_variant is not None and dtype is not None:
            yield full_name(op), _in_place(op, dtype, limit)


def reference_programs(limit: int) -> Iterator[tuple[str, Iterator[Program]]]:
    """Binary operators over their reference inputs: broadcasts, scalars, odd strides, mixed dtypes."""
    for op in operator_database("binary_ufuncs"):
        dtype = dtype_for(op)
        if dtype is not None and not op.name.startswith("_refs"):
            yield full_name(op), _out_of_place(op, dtype, limit, reference=True)


def error_programs(limit: int) -> Iterator[tuple[str, Iterator[Program]]]:
    """Inputs that an operator must refuse, and in-place writes into a leaf, which autograd refuses."""
    for op in operator_database():
        yield full_name(op), _errors(op, limit)


def foreach_programs(limit: int) -> Iterator[tuple[str, Iterator[Program]]]:
    """The five foreach lists, out of place and in place."""
    for name in ("unary", "binary", "pointwise", "reduce", "other"):
        for op in operator_database(f"foreach_{name}_op_db"):
            yield full_name(op), _foreach(op, limit)


def _differentiable(op: Any, dtype: torch.dtype) -> bool:
    return bool(op.supports_autograd) and (dtype.is_floating_point or dtype.is_complex)


def _out_of_place(op: Any, dtype: torch.dtype, limit: int, *, reference: bool = False) -> Iterator[Program]:
    grad = _differentiable(op, dtype)
    generate = op.reference_inputs if reference else op.sample_inputs
    samples = _Samples(lambda: generate("cpu", dtype, requires_grad=grad), limit)
    for index in range(len(samples)):

        def prepare(index: int = index) -> Any:
            sample = samples.take(index)
            return [sample.input, list(sample.args), dict(sample.kwargs), sample.output_process_fn_grad]

        yield Program(
            name=f"{full_name(op)}[{index}]",
            prepare=prepare,
            forward=lambda given: op(given[0], *given[1], **given[2]),
            backward=_backward if grad else None,
            values=op.name not in VALUES_NOT_COMPARED,
        )


def _in_place(op: Any, dtype: torch.dtype, limit: int) -> Iterator[Program]:
    grad = _differentiable(op, dtype) and op.supports_inplace_autograd
    samples = _Samples(lambda: op.sample_inputs("cpu", dtype, requires_grad=grad), limit)
    write = op.inplace_variant
    for index in range(len(samples)):

        def prepare(index: int = index) -> Any:
            sample = samples.take(index)
            target = sample.input.clone()
            return [target, list(sample.args), dict(sample.kwargs), None, sample.input]

        yield Program(
            name=f"{full_name(op)}_[{index}]",
            prepare=prepare,
            forward=lambda given: write(given[0], *given[1], **given[2]),
            backward=_backward if grad else None,
            values=f"{op.name}_" not in VALUES_NOT_COMPARED,
        )


def _errors(op: Any, limit: int) -> Iterator[Program]:
    if op.error_inputs_func is not None:
        samples = _Samples(lambda: op.error_inputs("cpu"), limit)
        for index in range(len(samples)):

            def prepare(index: int = index) -> Any:
                sample = samples.take(index).sample_input
                return [sample.input, list(sample.args), dict(sample.kwargs)]

            yield Program(
                name=f"{full_name(op)} refused[{index}]",
                prepare=prepare,
                forward=lambda given: op(given[0], *given[1], **given[2]),
                values=False,  # the database makes many of these inputs by torch.empty; the refusal is what counts
            )
    dtype = dtype_for(op)
    if op.inplace_variant is not None and dtype is not None and _differentiable(op, dtype):
        leaves = _Samples(lambda: op.sample_inputs("cpu", dtype, requires_grad=True), 1)
        write = op.inplace_variant

        def prepare_leaf() -> Any:
            sample = leaves.take(0)
            return [sample.input, list(sample.args), dict(sample.kwargs)]

        yield Program(
            name=f"{full_name(op)}_ into a leaf",
            prepare=prepare_leaf,
            forward=lambda given: write(given[0], *given[1], **given[2]),
        )


def _foreach(op: Any, limit: int) -> Iterator[Program]:
    variants = [("", op.op)] if op.method_variant is not None and op.name != "_foreach_zero" else []
    variants += [("_", op.inplace_variant)] if op.inplace_variant is not None else []
    for suffix, function in variants:
        samples = _Samples(
            lambda: op.sample_inputs("cpu", torch.float32, requires_grad=True, num_input_tensors=[3]),
            limit,
        )
        for index in range(len(samples)):

            def prepare(index: int = index, clone: bool = bool(suffix), samples: _Samples = samples) -> Any:
                sample = samples.take(index)
                target = [tensor.clone() for tensor in sample.input] if clone else sample.input
                return [target, list(sample.args), dict(sample.kwargs), None, sample.input]

            yield Program(
                name=f"{op.name}{suffix}[{index}]",
                prepare=prepare,
                forward=_calling(function),
                backward=_foreach_backward,
            )


def _calling(function: Any) -> Callable[[Any], Any]:
    return lambda given: function(given[0], *given[1], **given[2])


def _foreach_backward(given: Any, outputs: Any) -> None:
    _backward([*given[:3], None, *given[4:]], given[0] if outputs is None else outputs)


def _backward(given: Any, outputs: Any) -> None:
    """Gradients of every differentiable output; the first ones are made unseen, so that no call of ours is judged."""
    process = given[3]
    if process is not None and not inspect.isbuiltin(process):
        outputs = process(outputs)
    roots = [tensor for _, tensor in tensors_of(outputs) if tensor.requires_grad]
    with torch._C.DisableTorchFunction():
        grads = [torch.ones_like(root) for root in roots]
    if roots:
        torch.autograd.backward(roots, grads)
