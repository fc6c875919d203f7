"""The names by which capture knows operations: held against PyTorch, and against what a watch records."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any, get_args

import pytest
import torch
import torch.nn.functional as F
from builders import sigmoid_report
from torch import nn

import inplace_magic
from inplace_magic import analysis, comparing, hazards
from inplace_magic.capture.torch import traits
from inplace_magic.record.traits import Trait
from inplace_magic.report import Report

WHERE = (torch.Tensor, torch, F, nn.init)


def _files(room: Any) -> list[Path]:
    return sorted(Path(room.__file__).parent.rglob("*.py"))


def names_with(trait: Trait) -> list[str]:
    (found,) = (names for listed, names in traits._LISTED if listed == trait)
    return sorted(set(found))


NAMES = sorted({name.removesuffix(" =").rpartition(".")[2] for known in traits._NAMES.values() for name in known})
ROOMS = (analysis, comparing, hazards)
SPELLING = re.compile(r"\.name\.(endswith|rsplit)\(|\.name\.startswith\((?!\"(Tensor|F)\.\"|\(\"self|f\"|\(f\")")
FULL = re.compile(r"\.name (==|!=|in) \(?\"(Tensor|torch|F)\.")


@pytest.mark.parametrize("name", NAMES)
def test_each_operation_is_one_of_pytorch(name: str) -> None:
    assert any(hasattr(where, name) for where in WHERE)


@pytest.mark.parametrize("name", [name for name in names_with("overwrites") if "_foreach_" not in name])
def test_what_overwrites_leaves_nothing_of_the_old_values(name: str) -> None:
    """What a tensor of NaN holds afterwards is no NaN any more."""
    x = torch.full((3, 3, 3) if name == "dirac_" else (3, 3), float("nan"))
    given: dict[str, tuple[Any, ...]] = {
        "fill_": (1.0,),
        "copy_": (torch.ones_like(x),),
        "constant_": (1.0,),
        "geometric_": (0.5,),
    }
    if hasattr(torch.Tensor, name):
        getattr(x, name)(*given.get(name, ()))
    else:
        getattr(nn.init, name)(x, *given.get(name, ()))
    assert not x.isnan().any()


def test_what_is_masked_is_not_all_overwritten() -> None:
    x = torch.full((2,), float("nan"))
    x.masked_fill_(torch.tensor([True, False]), 0.0)
    assert x.isnan().tolist() == [False, True]
    assert "overwrites" not in traits.traits_of("Tensor.masked_fill_")


def test_a_watch_records_these_very_names() -> None:
    layer = nn.Linear(2, 2)
    optimizer = torch.optim.SGD(layer.parameters(), foreach=True)
    layer(torch.ones(1, 2)).sum().backward()
    with inplace_magic.watch() as watched:
        x, y = torch.ones(3), torch.zeros(3)
        x += y
        x -= y
        x *= 2
        x /= 2
        x[0] = 1
        x.data.copy_(y)
        x.data = y
        x.numpy()
        float(x[0])
        _ = 1 - x
        _ = x == y
        n = torch.ones(3, dtype=torch.int64)
        n &= 1
        nn.init.kaiming_uniform_(layer.weight)
        torch.autograd.grad(layer(torch.ones(1, 2)).sum(), layer.weight)
        x.detach()
        optimizer.zero_grad(set_to_none=False)
        F.relu(x)
    met: dict[Trait, set[str]] = {}
    for call in watched.report.trace.calls:
        for trait in call.traits:
            met.setdefault(trait, set()).add(call.operation)
    assert {trait: names & met.get(trait, set()) for trait, names in EXPECTED.items()} == EXPECTED
    assert {node.name for node in watched.report.trace.nodes if node.does("accumulates")} == {"AccumulateGrad"}


EXPECTED: dict[Trait, set[str]] = {
    "method": {"numpy", "add_"},
    "of lists": {"_foreach_zero_"},
    "takes a flag": {"relu"},
    "sets item": {"__setitem__"},
    "copies in": {"copy_"},
    "zeroes": {"_foreach_zero_"},
    "overwrites": {"kaiming_uniform_", "copy_"},
    "shifts": {"add_", "sub_"},
    "scales": {"mul_", "div_"},
    "elementwise": {"add_", "sub_", "mul_", "div_", "__iand__"},
    "gives item": {"__getitem__"},
    "gives data": {"data"},
    "gives array": {"numpy"},
    "may hand back": {"detach"},
    "takes memory": {"data ="},
    "compares": {"__rsub__", "__eq__"},
    "reads values": {"__float__", "numpy"},
    "gives gradients": {"grad"},
}


def test_every_trait_is_some_operations_and_every_one_is_asked_for() -> None:
    by_form = {"method", "of lists", "takes a flag", "has a form in place"}
    listed = {trait for trait, _ in traits._LISTED} | set(traits._NODES) | by_form
    assert listed == set(get_args(Trait))
    texts = [path.read_text(encoding="utf-8") for room in ROOMS for path in _files(room)]
    assert {
        trait
        for trait in listed
        if not any(f'.{asked}("{trait}")' in text for asked in ("does", "doing") for text in texts)
    } == set()


def test_a_custom_function_is_known_by_its_name_and_not_by_that_of_its_node() -> None:
    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            return x * 2

        @staticmethod
        def backward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:
            return grad * 2

    x = torch.ones(2, requires_grad=True)
    with inplace_magic.watch() as watched:
        Twice.apply(x * 3).sum().backward()
    assert [node.function for node in watched.report.trace.nodes if node.function] == ["Twice"]


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: room.__name__)
def test_no_rule_goes_by_the_end_of_a_name_or_spells_one_itself(room: Any) -> None:
    for path in _files(room):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, (ast.Call, ast.Compare)):
                text = ast.unparse(node).replace("'", '"')
                ends = SPELLING.search(text) and '.name.endswith("_")' not in text  # in place, whatever it does
                assert not ends, f"{path.name}: {text}"
                assert not FULL.search(text), f"{path.name}: {text}"


def test_words_of_a_newer_version_are_left_out_of_a_saved_report() -> None:
    data = sigmoid_report().to_dict()
    data["calls"][4]["traits"].append("folds")
    data["trace"]["saved"][0]["role"] = "third input"
    trace = Report.from_dict(data).trace
    assert trace.calls[4] == sigmoid_report().trace.calls[4]
    assert [saved.role for saved in trace.saved] == [None, "result"]
