"""The names by which rules know operations: held against PyTorch, and against what a watch records."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn

import inplace_magic
from inplace_magic import analysis, hazards
from inplace_magic.analysis import operations as of_the_record
from inplace_magic.hazards import operations

WHERE = (torch.Tensor, torch, F, nn.init)
SETS = {name: value for name, value in vars(operations).items() if isinstance(value, frozenset)}
NAMES = sorted({*(name for names in SETS.values() for name in names), operations.COPY, operations.DETACH_IN_PLACE})
SPELLING = re.compile(r"\.name\.(endswith|rsplit)\(|\.name\.startswith\((?!\"(Tensor|F)\.\"|\(\"self|f\"|\(f\")")
FULL = re.compile(r"\.name (==|!=|in) \(?\"(Tensor|torch|F)\.")


@pytest.mark.parametrize("name", NAMES)
def test_each_operation_is_one_of_pytorch(name: str) -> None:
    assert any(hasattr(where, name) for where in WHERE)


@pytest.mark.parametrize("name", sorted(operations.IN_PLACE_BY_AN_UNDERSCORE))
def test_what_has_an_in_place_form_by_an_underscore_has_it(name: str) -> None:
    assert hasattr(torch.Tensor, f"{name}_")


@pytest.mark.parametrize("name", sorted(operations.IN_PLACE_BY_A_FLAG))
def test_what_has_an_in_place_form_by_a_flag_takes_the_flag(name: str) -> None:
    x = torch.randn(2, 3)
    given: dict[str, Any] = {"threshold": 0.5, "value": 0.0} if name == "threshold" else {}
    assert getattr(F, name)(x, **given, inplace=True) is x


@pytest.mark.parametrize("name", sorted(operations.OVERWRITING - {"_foreach_zero_", "_foreach_copy_"}))
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
    assert "masked_fill_" not in operations.OVERWRITING


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
    recorded = {call.name for call in watched.report.trace.calls}
    of_the_indexes = {of_the_record.DATA, of_the_record.DATA_SETTER, of_the_record.GET_ITEM, of_the_record.SET_ITEM}
    assert of_the_indexes | {operations.TO_NUMPY, operations.GRADIENTS_ALONE} <= recorded
    assert "Tensor.detach" in of_the_record.HANDING_BACK & recorded
    found = {call.operation for call in watched.report.trace.calls}
    assert {"add_", "sub_", "mul_", "div_"} <= found & operations.ELEMENTWISE
    assert {"__iand__"} <= found & operations.ELEMENTWISE
    assert {"__rsub__", "__eq__"} <= found & operations.COMPARING
    assert {"_foreach_zero_"} <= found & operations.ZEROING
    assert {"__float__", "numpy"} <= found & operations.LOOKING
    assert {"kaiming_uniform_", "copy_"} <= found & operations.OVERWRITING


@pytest.mark.parametrize("room", [hazards, analysis], ids=["hazards", "analysis"])
def test_no_rule_goes_by_the_end_of_a_name_or_spells_one_itself(room: Any) -> None:
    for path in sorted(Path(room.__file__).parent.rglob("*.py")):
        if path.name == "operations.py":
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, (ast.Call, ast.Compare)):
                text = ast.unparse(node).replace("'", '"')
                ends = SPELLING.search(text) and '.name.endswith("_")' not in text  # in place, whatever it does
                assert not ends, f"{path.name}: {text}"
                assert not FULL.search(text), f"{path.name}: {text}"
