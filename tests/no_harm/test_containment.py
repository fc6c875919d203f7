"""Whatever fails in this package, the user's results, errors and cell status stay, and the report says what failed."""

from __future__ import annotations

import inspect
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import CodeType, FrameType
from typing import Any

import pytest
import torch
from cells import run_cell
from conftest import torch_modes
from no_harm import busy
from no_harm.differential import empty_stacks
from no_harm.faults import BOUNDARY, Target, targets
from no_harm.snapshots import differing_paths, seed_everything, value_facts

import inplace_magic
from inplace_magic.capture.torch import describe_memory

LEVELS = ("calls", "ops")
TARGETS = {target.name: target for target in targets() if target.name not in BOUNDARY}


class Injected(LookupError):
    """A fault that no code of ours expects."""


@pytest.fixture(autouse=True)
def _clean_stacks() -> Iterator[None]:
    yield
    empty_stacks()  # a failure here must not be blamed on the tests that follow


@pytest.fixture(scope="module")
def plain() -> Any:
    """What the program leaves without a watch."""
    seed_everything()
    return value_facts(busy.program())


@pytest.fixture(scope="module")
def reached() -> set[str]:
    """The functions of ours that a watch of the program reaches, at one of the levels. Where none of the others is
    called, none can fail."""
    with _noting() as seen:
        for level in LEVELS:
            busy.watched(inplace_magic.watch(level=level))
    assert len(seen) > 300
    return seen


@pytest.fixture(scope="module")
def reached_by_an_error() -> set[str]:
    """Those that a watch reaches which the user's error ends."""
    with _noting() as seen, pytest.raises(ZeroDivisionError), inplace_magic.watch():
        _fail()
    assert len(seen) > 100
    return seen


def test_what_is_not_broken_here_is_still_there() -> None:
    assert BOUNDARY.keys() <= {target.name for target in targets()}


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_fault_in_any_function_of_ours_changes_nothing_and_is_said(
    name: str, level: str, plain: Any, reached: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if name not in reached:
        return
    monkeypatch.setattr(describe_memory._CopyOnWrite, "seen", False)  # other tests of this process had such tensors
    calls = _break(TARGETS[name], monkeypatch)
    watch = inplace_magic.watch(level=level)
    result = busy.watched(watch)
    assert differing_paths(plain, value_facts(result)) == []
    assert torch_modes() == []
    assert watch.report is not None
    if calls:
        assert any("Injected" in line for line in watch.report.faults)
        assert all("report it" in line for line in watch.report.faults)


@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_fault_of_ours_does_not_take_the_place_of_the_users_error(
    name: str, reached_by_an_error: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if name not in reached_by_an_error:
        return
    _break(TARGETS[name], monkeypatch)
    with pytest.raises(ZeroDivisionError, match="mine") as caught, inplace_magic.watch():
        _fail()
    assert caught.value.__context__ is None
    assert torch_modes() == []


GOOD = "x = torch.ones(2, requires_grad=True) * 1\nx.add_(1)\nx.tolist()"


@pytest.mark.parametrize(
    "name",
    [
        "recorder.Recorder.open",
        "recorder.Recorder.close",
        "describe.version",
        "identity.IdentityMap.register",
        "callsite.CallsiteTable.note",
        "nodes.NodeMap.number",
        "names.read_namespace",
        "session.Session.start",
    ],
)
def test_cell_keeps_its_status_and_value_when_we_fail(
    name: str, loaded_shell: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    _break(TARGETS[name], monkeypatch)
    run_cell(loaded_shell, "import torch")
    good = run_cell(loaded_shell, f"%%inplace_watch\n{GOOD}")
    assert good.error is None
    assert good.result.result == [2.0, 2.0]
    bad = run_cell(loaded_shell, "%%inplace_watch\ntorch.ones(2).add_(1)\n1 / 0")
    assert isinstance(bad.error, ZeroDivisionError)
    assert torch_modes() == []
    shown = good.out + good.err + "".join(str(data) for data in good.displays)
    assert "Injected" in shown


@pytest.mark.parametrize("step", ["frozen_trace", "read_namespace"])
def test_a_recursion_of_ours_after_the_block_is_said_as_a_fault(monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    """Not taken for a recursion of the user's, which leaves no room to record a call."""

    def endless(*_args: Any, **_others: Any) -> Any:
        raise RecursionError(step)

    monkeypatch.setattr(f"inplace_magic.capture.session.{step}", endless)
    with inplace_magic.watch() as w:
        torch.ones(2).add_(1)
    assert w.report is not None
    assert [step in fault for fault in w.report.faults] == [True]


def test_every_broken_rule_leaves_the_findings_of_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    from inplace_magic import hazards

    with inplace_magic.watch() as watch:
        _leaf_and_saved()
    assert watch.report is not None
    trace = watch.report.trace
    whole = {hazard.code for hazard in inplace_magic.watching.api.analyze(trace).hazards}
    assert len(whole) >= 2
    rules = hazards.RULES
    for i, rule in enumerate(rules):

        def broken(story: Any, rule: Any = rule) -> Any:
            raise Injected("rule")

        broken.__module__ = rule.check.__module__
        monkeypatch.setattr(hazards, "RULES", (*rules[:i], replace(rule, check=broken), *rules[i + 1 :]))
        report = inplace_magic.watching.api.analyze(trace)
        assert len(report.faults) == 1
        assert f"The rule {rule.name} failed (Injected: rule)" in report.faults[0]
        assert len({hazard.code for hazard in report.hazards}) >= len(whole) - 1


def _fail() -> None:
    torch.ones(2).add_(1)
    raise ZeroDivisionError("mine")


def _leaf_and_saved() -> None:
    leaf = torch.zeros(2, requires_grad=True)
    try:
        leaf.add_(1)
    except RuntimeError:
        probs = torch.sigmoid(leaf)
        probs.mul_(2)
        with pytest.raises(RuntimeError):
            probs.sum().backward()


def test_every_broken_renderer_says_so_and_leaves_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    from inplace_magic import render

    with inplace_magic.watch() as watch:
        torch.ones(2).add_(1)
    assert watch.report is not None
    whole = watch.report._repr_mimebundle_()
    for mime in render.RENDERERS:
        with monkeypatch.context() as patch:
            patch.setitem(render.RENDERERS, mime, _raise)
            shown = watch.report._repr_mimebundle_()
        assert "Injected" in shown[mime]
        assert {key: text for key, text in shown.items() if key != mime} == {
            key: text for key, text in whole.items() if key != mime
        }


def _raise(*_: Any, **__: Any) -> Any:
    raise Injected("broken")


@contextmanager
def _noting() -> Iterator[set[str]]:
    """The names of the functions of ours that are called within it, in any thread."""
    names: dict[CodeType, list[str]] = {}
    for name, target in TARGETS.items():
        names.setdefault(inspect.unwrap(target.function).__code__, []).append(name)
    seen: set[str] = set()

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            seen.update(names.get(frame.f_code, ()))

    before = sys.getprofile()
    threading.setprofile(note)
    sys.setprofile(note)
    try:
        yield seen
    finally:
        sys.setprofile(before)
        threading.setprofile(None)


def _break(target: Target, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Makes a function of ours raise; the list fills when it is reached."""
    reached: list[int] = []

    def broken(*_: Any, **__: Any) -> Any:
        reached.append(1)
        raise Injected("broken")

    target.break_(monkeypatch, broken)
    return reached
