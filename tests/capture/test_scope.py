"""The names in sight of a watched block: found, and nothing of the user's frames changed or kept by looking."""

from __future__ import annotations

import dis
import gc
import sys
import weakref
from pathlib import Path
from typing import Any

import pytest
import torch

import inplace_magic
from inplace_magic.capture.naming import passing_names

outer = torch.ones(2)


def names_of(watched: inplace_magic.watch) -> set[str]:
    assert watched.report is not None
    assert watched.report.faults == []
    return {entry.name for entry in watched.report.trace.names}


def test_globals_and_locals_are_named() -> None:
    with inplace_magic.watch() as watched:
        inner = [torch.ones(2)]
        inner[0].add_(outer)
    assert {"outer", "inner[0]"} <= names_of(watched)


def test_a_namespace_made_for_exec_is_named_as_the_program_names_it() -> None:
    namespace: dict[str, Any] = {}
    with inplace_magic.watch() as watched:
        exec("import torch\nkept = torch.ones(2)\nkept.add_(1)", namespace)
    assert "kept" in names_of(watched)
    assert not any(name.startswith("namespace") for name in names_of(watched))


def test_what_the_function_lets_go_of_after_the_block_dies() -> None:
    with inplace_magic.watch():
        tensor = torch.ones(2)
        tensor.add_(1)
    death = weakref.ref(tensor)
    del tensor
    gc.collect()
    assert death() is None


def test_the_dict_that_locals_gave_stays_as_it_was() -> None:
    first = 1
    seen = locals()
    before = dict(seen)
    with inplace_magic.watch():
        later = torch.ones(2)
        later.add_(first)
    assert seen.keys() == before.keys()


def test_what_exec_left_among_the_locals_stays() -> None:
    found: list[int] = []
    exec("left = 1")
    with inplace_magic.watch():
        torch.ones(2).add_(1)
    if sys.version_info < (3, 13):  # since then, each exec gets a dict of its own
        exec("found.append(left)")
        assert found == [1]


def test_a_class_body_keeps_its_names() -> None:
    class Holder:
        with inplace_magic.watch() as watched:
            weight = torch.ones(2)
            weight.add_(1)
        size = weight.numel()

    assert (Holder.size, Holder.weight.tolist()) == (2, [2.0, 2.0])


def test_under_a_trace_function_the_variables_survive() -> None:
    """A debugger's trace function has its frame's locals written back from the dict when it returns (PEP 667)."""

    def trace(_frame: Any, _event: str, _argument: Any) -> Any:
        _frame.f_locals  # noqa: B018  # as a debugger looks
        return trace

    def watched_block() -> float:
        scale = torch.ones(2)
        with inplace_magic.watch():
            scale.add_(1)
        return float(scale.sum())

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        total = watched_block()
    finally:
        sys.settrace(before)
    assert total == 4.0


@pytest.mark.parametrize("place", ["module", "function", "exec"])
def test_a_silent_finding_does_not_depend_on_where_the_block_stands(tmp_path: Path, place: str) -> None:
    """Labels that are the input: PyTorch trains on masked labels and says nothing."""
    program = """
ids = torch.arange(1, 9).view(2, 4)
labels = ids
ids[:, 1] = 0
loss = torch.nn.functional.one_hot(ids, 9).sum() + labels.sum()
"""
    block = "with inplace_magic.watch() as watched:" + program.replace("\n", "\n    ") + "\n"
    text = {
        "module": block,
        "function": "def main():\n    global watched\n    " + block.replace("\n", "\n    ") + "\nmain()\n",
        "exec": f"with inplace_magic.watch() as watched: exec(compile({program!r}, __file__, 'exec'), globals())\n",
    }[place]
    path = tmp_path / "train.py"
    path.write_text(text if place != "exec" else program)
    namespace: dict[str, Any] = {"torch": torch, "inplace_magic": inplace_magic, "__file__": str(path)}
    exec(compile(text, str(path) if place != "exec" else "<harness>", "exec"), namespace)
    assert namespace["labels"].sum() == namespace["ids"].sum() if place != "function" else True
    (hazard,) = [hazard for hazard in namespace["watched"].report.hazards if hazard.severity != "info"]
    assert (hazard.code, hazard.mutation.text) == ("alias-written", "ids[:, 1] = 0")


def test_the_text_of_the_file_is_saved_with_the_report() -> None:
    with inplace_magic.watch() as watched:
        torch.ones(2).add_(1)
    assert watched.report is not None
    (text,) = watched.report.trace.sources
    assert text.file == __file__
    assert text.lines == tuple(Path(__file__).read_text(encoding="utf-8").splitlines())
    assert inplace_magic.Report.from_json(watched.report.to_json()).trace == watched.report.trace


def test_a_function_that_names_nothing_of_the_kind_is_not_taken_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other people's suites ran up to ten times longer for it: a call from each new place reads the names anew."""
    taken_apart: list[object] = []
    real = dis.get_instructions

    def noted(code: Any) -> Any:
        taken_apart.append(code)
        return real(code)

    monkeypatch.setattr(dis, "get_instructions", noted)

    def step(value: torch.Tensor, deep: int) -> torch.Tensor:
        return step(value + 1, deep - 1) if deep else value.add_(1)

    with inplace_magic.watch() as watched:
        step(torch.ones(2), 5)
    assert watched.report is not None
    assert len(watched.report.calls) >= 6
    assert step.__code__ not in taken_apart


NETWORKS = """
import torch
from torch import nn

def leaf(x):
    return x + 1

def main(steps):
    net = nn.Sequential(*[nn.Linear(2, 2) for _ in range(20)])
    x = torch.ones(2)
{lines}
    out = net(x)
    first = out * 2
    second = first + 1
    third = second - 1
    return third.sum()
"""


def test_a_network_is_not_gone_through_again_at_every_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two hundred lines of a function with a network of forty parameters: the parameters have their names, and of the
    twenty layers not each one was looked at two hundred times."""
    namespace: dict[str, Any] = {}
    exec(compile(NETWORKS.format(lines="    x = leaf(x)\n" * 200), "train.py", "exec"), namespace)
    looked = 0
    walk = passing_names.within_reach

    def counted(names: dict[str, Any], kinds: Any) -> Any:
        nonlocal looked
        for entry in walk(names, kinds):
            looked += isinstance(entry[2], torch.nn.Linear)
            yield entry

    monkeypatch.setattr(passing_names, "within_reach", counted)
    with inplace_magic.watch() as watch:
        namespace["main"](3)
    assert watch.report is not None
    names = {entry.name for entry in watch.report.trace.local_names if entry.function == "main"}
    assert {"net[0].weight", "net[19].bias", "x", "first"} <= names
    assert looked < 20 * 200 / 10
