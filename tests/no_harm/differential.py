"""Runs a program plain and watched, and lists every difference that the program could notice.

The promise under test: the watched program is the user's program, bit for bit. Same outputs, gradients, autograd
graph, versions, random states, errors and warnings. Where two plain runs differ from each other, a watch cannot be
blamed, so a third, plain run decides; such programs are counted as ``unsteady``, never silently dropped.
"""

from __future__ import annotations

import contextlib
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import torch
from empty_modes import EmptyDispatchMode, EmptyFunctionMode
from no_harm import kinds
from no_harm.snapshots import (
    differing_paths,
    random_states,
    seed_everything,
    tensors_of,
    value_facts,
    without_addresses,
)

import inplace_magic
from inplace_magic.report import Report

Mode = Literal["plain", "calls", "ops", "writes", "empty-function", "empty-dispatch"]
Agreement = Literal["agreed", "disagreed", "not judged"]
MODES: tuple[Mode, ...] = ("calls", "ops", "empty-function", "empty-dispatch")


_BIRTH = re.compile(
    r"\.(outputs|gradients)\S*\.version: \d+ became \d+$"
    r"|\.(outputs|inputs)\S*\.graph\[\d+\]: '(ReshapeAlias|View)Backward0' became '(ReshapeAlias|View)Backward0'$"
)


@dataclass(frozen=True)
class Program:
    """Something to run twice.

    Args:
        name: unique within its list.
        prepare: makes new, equal inputs each time; runs unwatched.
        forward: the call whose kind is judged; runs watched.
        backward: what follows, given the inputs and the outputs; runs watched.
        values: False where outputs hold memory that was never initialised.
        one_call: True when `forward` is a single torch call, so that its kind can be judged.
    """

    name: str
    prepare: Callable[[], Any]
    forward: Callable[[Any], Any]
    backward: Callable[[Any, Any], Any] | None = None
    values: bool = True
    one_call: bool = True


@dataclass(frozen=True)
class Outcome:
    """One run."""

    facts: dict[str, Any]
    report: Report | None = None
    expected: tuple[frozenset[str], str] | None = None
    """From a plain run: the kinds that are true of `forward`; None when it raised."""


@dataclass(frozen=True)
class Comparison:
    """One program, plain against another mode."""

    program: str
    mode: Mode
    differences: tuple[str, ...] = ()
    births: tuple[str, ...] = ()
    """At level ``ops`` only: new tensors that are born with another version number, or with another name for the same
    backward node. Any dispatch mode does that; what a version counts, the writes after birth, is the same."""
    unsteady: tuple[str, ...] = ()
    """Where two plain runs differ from each other; not blamed on the watch."""
    kind: Agreement = "not judged"
    kind_note: str = ""
    faults: tuple[str, ...] = field(default=())
    error: str | None = None
    """What the plain run raised."""


def compare(program: Program, mode: Mode, plain: Outcome | None = None) -> Comparison:
    """The differences between a plain run, which may have been made before, and one under `mode`."""
    plain = plain or run(program, "plain")
    other = run(program, mode)
    differences = differing_paths(plain.facts, other.facts)
    noise: list[str] = []
    if differences:
        noise = differing_paths(plain.facts, run(program, "plain").facts)
        noisy = {line.split(": ")[0] for line in noise}
        differences = [line for line in differences if line.split(": ")[0] not in noisy]
    births = [line for line in differences if mode in ("ops", "empty-dispatch") and _BIRTH.match(line)]
    kind, note = _judge(plain, other)
    return Comparison(
        program=program.name,
        mode=mode,
        differences=tuple(line for line in differences if line not in births),
        births=tuple(births),
        unsteady=tuple(noise),
        kind=kind,
        kind_note=note,
        faults=tuple(other.report.faults) if other.report is not None else (),
        error=plain.facts["error"],
    )


def run(program: Program, mode: Mode) -> Outcome:
    """Runs a program once, from the same seed."""
    seed_everything()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        inputs = program.prepare()
    seed_everything()
    judged = mode == "plain" and program.one_call
    before = kinds.look(inputs) if judged else []
    outputs: Any = None
    expected = None
    error: BaseException | None = None
    report: Report | None = None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        torch.set_warn_always(True)
        try:
            with _mode(mode) as watch:
                outputs = program.forward(inputs)
                if judged:
                    expected = kinds.expected_kinds(before, outputs)
                    before = []
                if program.backward is not None:
                    program.backward(inputs, outputs)
        except Exception as raised:  # the program's own error is part of what is compared
            error = raised.with_traceback(None)
        finally:
            torch.set_warn_always(False)
        report = getattr(watch, "report", None)
    facts = {
        "error": None if error is None else without_addresses(f"{type(error).__name__}: {error}"),
        "cause": repr(type(error.__cause__ or error.__context__)) if error is not None else None,
        "warnings": [without_addresses(f"{w.category.__name__}: {w.message}") for w in caught],
        "random": random_states(),
        "outputs": value_facts(outputs, values=program.values),
        "identities": _identities(inputs, outputs),
        "inputs": {path: value_facts(tensor, values=program.values) for path, tensor in tensors_of(inputs)},
        "gradients": {
            path: value_facts(tensor.grad)
            for path, tensor in tensors_of(inputs)
            if tensor.is_leaf and tensor.grad is not None
        },
        "modes left": torch._C._len_torch_function_stack() + torch._C._len_torch_dispatch_stack(),
    }
    empty_stacks()
    return Outcome(facts, report, expected)


def _identities(inputs: Any, outputs: Any) -> list[str]:
    """Which outputs are inputs, as objects or by storage."""
    given = {id(tensor): path for path, tensor in tensors_of(inputs)}
    return [f"{path} is {given[id(tensor)]}" for path, tensor in tensors_of(outputs) if id(tensor) in given]


def _judge(plain: Outcome, other: Outcome) -> tuple[Agreement, str]:
    if plain.expected is None or other.report is None:
        return "not judged", ""
    calls = [call for call in other.report.calls if call.parent is None and call.name != "torch.autograd.backward"]
    if len(calls) != 1:
        return "not judged", f"{len(calls)} outermost calls"
    allowed, reason = plain.expected
    if not calls[0].name.endswith("_") and len(allowed) > 1:
        allowed -= {"metadata"}  # only a name with an underscore announces a change
    if "batch_norm" in calls[0].name and calls[0].kind == "in-place" and "in-place" not in allowed:
        return "not judged", "running statistics written with the values that they had"
    if calls[0].kind in allowed:
        return "agreed", ""
    wanted = " or ".join(sorted(allowed))
    return "disagreed", f"{calls[0].name} is said to be {calls[0].kind}, but {reason}: {wanted}"


def _mode(mode: Mode) -> Any:
    if mode == "plain":
        return contextlib.nullcontext()
    if mode == "empty-function":
        return EmptyFunctionMode()
    if mode == "empty-dispatch":
        return EmptyDispatchMode()
    return inplace_magic.watch(level=mode)


def empty_stacks() -> None:
    """Takes every mode off this thread, whoever left it on, so that one failure does not spoil the next program."""
    from torch.utils._python_dispatch import _pop_mode

    while torch._C._len_torch_function_stack():
        torch.overrides._pop_mode()
    while torch._C._len_torch_dispatch_stack():
        _pop_mode()
