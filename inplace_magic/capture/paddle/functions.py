"""What is known of an operation before it is called: its name for a reader, and what it does to which argument. And a
call of it, while it runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import paddle
import paddle.nn.functional as F

from inplace_magic.capture.paddle.identity import Observation, TensorRecord
from inplace_magic.capture.paddle.saves import AS_IT_LIES, SAVES, Entry
from inplace_magic.capture.paddle.traits import traits_of
from inplace_magic.record.autograd import Backward
from inplace_magic.record.traits import Trait

METADATA_ONLY = frozenset(("reshape_", "unsqueeze_", "squeeze_", "flatten_", "transpose_", "t_", "data ="))
"""They leave the elements alone. ``x.data = y`` gives the tensor another memory."""

_STEPS = frozenset(
    ("sgd_", "momentum_", "adam_", "adamw_", "merged_adam_", "merged_momentum_", "lamb_", "rmsprop_", "adagrad_")
)
_KEEPS_LAYOUT = _STEPS | frozenset(
    (
        *("__setitem__", "set_value", "add_", "subtract_", "multiply_", "divide_", "scale_", "clip_", "fill_", "copy_"),
        *("relu_", "sigmoid_", "tanh_", "exp_", "sqrt_", "square_", "leaky_relu_", "softmax_"),
    )
)
_WRITES_ITS_FIRST = frozenset(("__setitem__", "set_value"))

_NAMES = {
    "_getitem_dygraph": "__getitem__",
    "_setitem_dygraph": "__setitem__",
    "uniform_inplace_": "uniform_",
    "gaussian_inplace_": "normal_",
    "run_backward": "backward",
    "run_partial_grad": "grad",
}
_NAMES_OF_TENSORS: dict[str, tuple[str, ...]] = {
    name: tuple(names) for name, names in getattr(paddle.base.core.eager.ops, "get_core_ops_args_info", dict)().items()
}
_OWNERS = {"backward": "Tensor", "grad": "paddle", "apply": "PyLayer"}


class OpFacts:
    """One operation.

    Args:
        owner: ``Tensor`` for a method of tensors, empty for a function.
    """

    exports = False
    """It gives no memory to other libraries."""

    def __init__(self, name: str, owner: str = "") -> None:
        self.operation = operation = _NAMES.get(name, name)
        self.name: str = _display_name(operation, owner)
        self.metadata_only = operation in METADATA_ONLY
        self.predicts_write = operation in _WRITES_ITS_FIRST or (
            operation.endswith("_") and not operation.startswith("__")
        )
        self.steps = operation in _STEPS
        """An optimizer moves a parameter by it."""
        self.keeps_layout = operation in _KEEPS_LAYOUT
        """It writes elements, and neither shape nor dtype of what it writes can be another one afterwards."""
        self.sets_item = operation == "__setitem__"
        self.runs_backward = name in ("run_backward", "run_partial_grad")
        self.runs_python = self.runs_backward or name == "apply"
        self.statistics = (1, 2) if operation == "batch_norm" else ()
        """Positions of arguments that are written without being announced, where the call trains."""
        self.saves: Entry | None = SAVES.get(operation)
        """What its node keeps, by the table of saves; None where that is not known."""
        self.keeps_as_it_lies = operation in AS_IT_LIES
        """It keeps an input itself also where that is not contiguous, and not a copy."""
        self.names: tuple[str, ...] = () if owner else _NAMES_OF_TENSORS.get(name, ())
        """Those of its tensors, which are its first parameters."""
        self.traits: tuple[Trait, ...] = traits_of(operation, method=self.name.startswith("Tensor."))


def in_positions(facts: OpFacts, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """Return the arguments of a call with the tensors that were given by name, ``matmul(x=a, y=b)``, where they
    belong."""
    if not kwargs or not facts.names:
        return args
    named = tuple(kwargs.get(name) for name in facts.names[len(args) :])
    return (*args, *named) if any([value is not None for value in named]) else args


def _display_name(operation: str, owner: str) -> str:
    """As a reader would write it: ``Tensor.add_``, ``paddle.matmul``, ``F.relu``."""
    owner = _OWNERS.get(operation, owner)
    if owner:
        return f"{owner}.{operation}"
    written = operation.endswith("_")
    places: tuple[tuple[str, Any], ...] = (("paddle", paddle), ("F", F), ("Tensor", paddle.Tensor))
    if written:
        places = (("Tensor", paddle.Tensor), ("F", F), ("paddle", paddle))
    for place, holder in places:
        if hasattr(holder, operation):
            return f"{place}.{operation}"
    return f"paddle._C_ops.{operation}"


@dataclass(init=False, eq=False, repr=False, slots=True)
class Call:
    """One call; `tensors`, `targets` and `arguments` only while it runs."""

    arguments: tuple[Any, ...]
    backward: Backward
    """Of a run of the engine: what it was asked for."""
    before: list[Observation]
    facts: OpFacts
    gradients: dict[TensorRecord, int | None]
    """Of a run of the engine: by leaf, the address of its gradient when it began; None where it had none."""
    grad_enabled: bool
    index: int
    mutations: list[Any]
    """Of each write the entries of :data:`.capture.log.EACH`."""
    old: bytes | None
    """What the first input held, where the call announces to write it and it is small."""
    outputs: list[Observation]
    parent: int | None
    reached: set[int]
    """Of a run of the engine: numbers of the nodes to which it comes."""
    sequence: int
    site: int | None
    targets: Sequence[Any]
    """What it announces to write."""
    tensors: Sequence[Any]
    unmoved: Sequence[Any]
    """What it writes without moving a version."""
