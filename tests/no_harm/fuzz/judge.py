"""What a report says about a cell, held against what the oracle saw."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from no_harm.fuzz.cells import Cell, Line
from no_harm.fuzz.oracle import VERSION_ERROR, Execution, Ran, failing_forward, observe, run, tensors_of

from inplace_magic import watch
from inplace_magic.hazards import Hazard
from inplace_magic.record.events import CallEvent
from inplace_magic.record.places import Callsite
from inplace_magic.report import Report

CELL = 3


def run_watched(source: str, level: str) -> tuple[Ran, Report]:
    """The cell under a watch that its first line begins, as the magic's does."""
    watching = watch(level=level)

    def begin(filename: str) -> None:
        watching.start(cell=CELL, filename=filename, source=source, frame=sys._getframe(2))

    ran = run(source, begin, end=watching.leave)
    report = watching.stop(namespace=ran.namespace, error=ran.error)
    return ran, report


@dataclass(frozen=True)
class Verdict:
    """What a fuzzed cell showed."""

    disagreements: tuple[str, ...]
    raised: bool
    """Whether any statement of it raised."""
    version_error: bool
    linked: int
    """Mutations that were checked against a variable."""
    unlinked: int
    """Mutations of tensors without a variable, about which the oracle knows nothing."""


def judge(cell: Cell, level: str = "calls") -> Verdict:
    """Runs a cell plain, watched and with the oracle, and collects every disagreement."""
    source = cell.source()
    plain = run(source).outcome()
    ran, report = run_watched(source, level)
    found = [f"watched differs: {line}" for line in _differences(plain, ran.outcome(), level)]
    executions = observe(cell)
    if executions and plain["error"] != executions[-1].error and plain["error"] is not None:
        found.append(f"the oracle's run ended otherwise: {executions[-1].error}")
    found += [f"fault: {fault}" for fault in report.faults]
    linking = _Linking(cell.lines())
    groups = list(_grouped(executions, report.calls))
    left = len(report.calls) - sum(len(calls) for _, calls in groups)
    if left:
        found.append(f"{left} calls are told of no line that ran, or in another order than the lines ran in")
    else:
        for execution, calls in groups:
            found += [f"line {execution.line}: {text}" for text in linking.check(execution, calls)]
        found += _check_findings(cell, report, executions)
        found += predictions_that_fail(cell, report) if ran.error is None else []
    if Report.from_json(report.to_json()) != report:
        found.append("the report is another one when saved and opened again")
    raised = any(execution.error is not None for execution in executions)
    failed = any(VERSION_ERROR.search(execution.error or "") for execution in executions)
    return Verdict(tuple(found), raised, failed, linking.linked, linking.unlinked)


def _differences(plain: Any, watched: Any, level: str, path: str = "") -> Iterator[str]:
    if isinstance(plain, dict) and isinstance(watched, dict):
        for name in sorted(plain.keys() | watched.keys()):
            yield from _differences(plain.get(name), watched.get(name), level, f"{path}.{name}" if path else name)
    elif level == "ops" and (_AT_BIRTH.search(path) or _renamed(plain) == _renamed(watched)):
        return
    elif plain != watched:
        yield f"{path}: {plain} became {watched}"[:400]


_AT_BIRTH = re.compile(r"(\.grad|^grads\[\d\])\.version$")
"""Under any dispatch mode, also an empty one, the autograd engine sums gradients up in new tensors and not in place
(torch/csrc/autograd/input_buffer.cpp), so a gradient is born at another version."""


def _renamed(graph: Any) -> Any:
    """Under any dispatch mode ``reshape`` gives a view by ``view``, whose node has the other name."""
    if not isinstance(graph, list):
        return graph
    return [name.replace("ReshapeAliasBackward0", "ViewBackward0") if isinstance(name, str) else name for name in graph]


def outermost(site: Callsite | None) -> int | None:
    """The cell's own line that led to a place."""
    while site is not None and site.caller is not None:
        site = site.caller
    return None if site is None else site.line


def _grouped(executions: list[Execution], calls: list[CallEvent]) -> Iterator[tuple[Execution, list[CallEvent]]]:
    position = 0
    for execution in executions:
        first = position
        while position < len(calls) and outermost(calls[position].callsite) == execution.line:
            position += 1
        yield execution, calls[first:position]


class _Linking:
    """Which tensor of the report is which object of the oracle, learned from the names that calls' results get."""

    def __init__(self, lines: dict[int, Line]) -> None:
        self.lines = lines
        self.serials: dict[int, int] = {}
        """By object number."""
        self.objects: dict[int, int] = {}
        """The inverse."""
        self.counters: dict[int, int | None] = {}
        """The version counter of each serial."""
        self.linked = self.unlinked = 0

    def check(self, execution: Execution, calls: list[CallEvent]) -> Iterator[str]:
        """All that the calls of one execution of a line claim."""
        for call in calls:
            for facts in (*call.inputs, *call.outputs, *call.mutated):
                self.counters[facts.tensor] = facts.counter
        yield from self._check_mutations(execution, calls)
        line = self.lines[execution.line]
        if line.binds and execution.error is None:
            yield from self._link(line.binds, execution, calls)
            yield from self._check_kind(line.binds, execution, calls)

    def _check_mutations(self, execution: Execution, calls: list[CallEvent]) -> Iterator[str]:
        chains: dict[int | None, tuple[int | None, int | None]] = {}
        for call in calls:
            for mutation in call.mutations:
                start, end = chains.get(mutation.counter, (mutation.version_before, mutation.version_before))
                if end != mutation.version_before:
                    yield f"mutations of T{mutation.tensor} do not follow each other: v{end}, then {mutation}"
                chains[mutation.counter] = start, mutation.version_after
        moved = execution.moved
        for number, step in moved.items():
            if number not in self.serials:
                if step not in chains.values():
                    yield f"object {number} moved {step}, but the report has {chains}"
                continue
            counter = self.counters[self.serials[number]]
            if chains.get(counter) != step:
                yield f"T{self.serials[number]} moved {step}, but the report has {chains.get(counter)}"
        known: dict[int | None, list[int]] = {}
        for number, serial in self.serials.items():
            known.setdefault(self.counters[serial], []).append(number)
        for counter, chain in chains.items():
            if counter not in known:
                self.unlinked += 1
            for number in known.get(counter, ()):
                self.linked += 1
                if moved.get(number) != chain:
                    yield f"a mutation {chain} is reported of T{self.serials[number]}, which moved {moved.get(number)}"
        yield from self._check_values(execution, calls)

    def _check_values(self, execution: Execution, calls: list[CallEvent]) -> Iterator[str]:
        mutations = [mutation for call in calls for mutation in call.mutations]
        if len(mutations) != 1 or mutations[0].tensor not in self.objects:
            return
        (mutation,) = mutations
        number = self.objects[mutation.tensor]
        if number not in execution.before:
            return
        for said, seen, when in (
            (mutation.values_before, execution.before[number].values, "before"),
            (mutation.values_after, execution.after[number].values, "after"),
        ):
            if said is not None and repr(tuple(map(float, said))) != repr(seen):
                yield f"the values of T{mutation.tensor} {when} the write are told as {said}, they were {seen}"

    def _link(self, names: tuple[str, ...], execution: Execution, calls: list[CallEvent]) -> Iterator[str]:
        if not calls or len(calls[-1].outputs) != len(names):
            yield f"{names} were bound, but the line's last call gave {calls[-1].outputs if calls else 'nothing'}"
            return
        for name, facts in zip(names, calls[-1].outputs, strict=True):
            number = execution.bound[name]
            if self.serials.setdefault(number, facts.tensor) != facts.tensor:
                yield f"`{name}` is the object known as T{self.serials[number]}, but is told as T{facts.tensor}"
            if self.objects.setdefault(facts.tensor, number) != number:
                yield f"T{facts.tensor} stands for two objects, {self.objects[facts.tensor]} and {number}"

    def _check_kind(self, names: tuple[str, ...], execution: Execution, calls: list[CallEvent]) -> Iterator[str]:
        if len(calls) != 1:
            return
        number = execution.bound[names[0]]
        if execution.moved:
            expected = "in-place"
        elif number in execution.before:
            return  # the same object came back unwritten: none of the kinds is about that
        else:
            known = {seen.storage for seen in execution.before.values()}
            expected = "view" if execution.after[number].storage in known else "ordinary"
        if calls[0].kind not in (expected, "metadata"):
            yield f"{calls[0].name} is told as {calls[0].kind}, it was {expected}"


def _check_findings(cell: Cell, report: Report, executions: list[Execution]) -> Iterator[str]:
    raised = [hazard for hazard in report.hazards if hazard.raised]
    if not any(execution.error for execution in executions):
        yield from (f"told as raised, although nothing raised: {hazard.message}" for hazard in raised)
    for position, execution in enumerate(executions):
        numbers = VERSION_ERROR.search(execution.error or "")
        if numbers is not None:
            found, expected = int(numbers[1]), int(numbers[2])
            yield from _check_culprit(cell, report, executions[:position], expected, found)
            return  # of several, the first one


def _check_culprit(cell: Cell, report: Report, before: list[Execution], expected: int, found: int) -> Iterator[str]:
    named = [hazard for hazard in report.hazards if hazard.raised and hazard.code == "saved-tensor-overwritten"]
    if not named:
        yield "backward raised the version error, and no finding says so"
        return
    hazard = next((h for h in named if (h.expected_version, h.found_version) == (expected, found)), None)
    if hazard is None:
        yield f"backward expected version {expected} and found {found}; told is {[_brief(h) for h in named]}"
        return
    culprits = _lines_of_first_write(before, expected, found)
    if culprits and outermost(hazard.mutation) not in culprits:
        yield f"version {expected} was first left on one of the lines {sorted(culprits)}; told is {_brief(hazard)}"
    truth = failing_forward(cell)
    if truth is not None and (outermost(hazard.saved), hazard.saved_by) != truth and len(named) == 1:
        yield f"anomaly mode says that line {truth[0]} saved it, in {truth[1]}; told is {_brief(hazard)}"


def _lines_of_first_write(before: list[Execution], expected: int, found: int) -> set[int]:
    """The lines on which an object left the expected version, of objects that were at the found one in the end."""
    lines: set[int] = set()
    for execution in before:
        for number, (start, end) in execution.moved.items():
            if start <= expected < end and before[-1].after[number].version == found:
                lines.add(execution.line)
    return lines


def _brief(hazard: Hazard) -> str:
    return (
        f"{hazard.variable} written on line {outermost(hazard.mutation)}, saved on line {outermost(hazard.saved)} by "
        f"{hazard.saved_by}, {hazard.expected_version} -> {hazard.found_version}"
    )


def predictions_that_fail(cell: Cell, report: Report) -> list[str]:
    """Findings that say "backward will raise", although backward from every tensor that is left raises nothing.

    The cell is run once more, plainly, and backward is tried from all that it left behind.
    """
    told = [
        h for h in report.hazards if h.severity == "error" and not h.raised and h.code == "saved-tensor-overwritten"
    ]
    if not told:
        return []
    errors = []
    for _, tensor in tensors_of(run(cell.source()).namespace):
        if tensor.requires_grad:
            try:
                torch.autograd.backward([tensor.sum()], retain_graph=True)
            except RuntimeError as error:
                errors.append(str(error))
    # A write into an expanded tensor makes backward fail for another reason before it comes to the saved one.
    if any(VERSION_ERROR.search(text) or "single memory location" in text for text in errors):
        return []
    return [f"backward was said to raise, and does not: {hazard.message}" for hazard in told]
