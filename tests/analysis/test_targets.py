"""Where a statement puts the value of one of its expressions, and what is thereby known to hold which tensor."""

from __future__ import annotations

import ast
from typing import Any

import pytest
from builders import made, site, tensor

from inplace_magic.analysis.naming.held import bindings_of
from inplace_magic.record.trace import Trace
from inplace_magic.source.statements import targets_at


def put_into(text: str, expression: str) -> list[tuple[str | None, ...] | None]:
    """What each occurrence of an expression in a statement is put into, from left to right."""
    statement = ast.parse(text).body[0]
    found = [
        (node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)
        for node in ast.walk(statement)
        if isinstance(node, (ast.expr, ast.stmt)) and ast.get_source_segment(text, node) == expression
    ]
    return [targets_at(statement, span) for span in sorted(set(found))]


@pytest.mark.parametrize(
    ("statement", "expression", "targets"),
    [
        ("y = f(x)", "f(x)", ("y",)),
        ("y = (f(x))", "f(x)", ("y",)),
        ("a = b = f(x)", "f(x)", ("b",)),
        ("a, self.b = f(x)", "f(x)", ("a", "self.b")),
        ("[a, b[0]] = f(x)", "f(x)", ("a", "b[0]")),
        ("a, b = f(x), g(x)", "g(x)", ("b",)),
        ("y: Tensor = f(x)", "f(x)", ("y",)),
        ("y += f(x)", "y += f(x)", ("y",)),
        ("y += f(x)", "f(x)", None),
        ("y = f(x) + 1", "f(x)", None),
        ("y = f(x) if training else x", "f(x)", ("y",)),
        ("if (y := f(x)).any():\n    pass", "f(x)", ("y",)),
        ("f(x)", "f(x)", None),
        ("return f(x)", "f(x)", ("return",)),
        ("return f(x), y", "f(x)", ("return",)),
        ("kept.append(f(x))", "f(x)", ("kept[]",)),
        ("self.kept.insert(0, f(x))", "f(x)", ("self.kept[]",)),
        ('kept.append({"loss": f(x)})', "f(x)", ("kept[]",)),
        ("kept.index(f(x))", "f(x)", None),
        ("kept = [f(x) for x in rows]", "f(x)", ("kept[]",)),
        ('kept["pre"] = f(x)', "f(x)", ('kept["pre"]',)),
        ("kept[i + 1] = f(x)", "f(x)", ("kept[]",)),
        ("kept()[0] = f(x)", "f(x)", (None,)),
    ],
)
def test_a_statement_puts_a_value_into_what_it_says(
    statement: str, expression: str, targets: tuple[str | None, ...] | None
) -> None:
    assert put_into(statement, expression) == [targets]


def test_each_of_two_equal_expressions_has_its_own_target() -> None:
    assert put_into("a, b = f(x), f(x)", "f(x)") == [("a",), ("b",)]
    assert put_into("y = f(f(x))", "f(x)") == [None]


CELL = """\
import torch
def positive(x):
    return x.relu()
rows = [torch.tensor([-1.0, float(i)]) for i in range(2)]
kept = []
for row in rows:
    kept.append(positive(row).mul(2))
low, high = rows[0].aminmax()
total = rows[0].sum(); total = total + 1
"""


def test_a_watch_tells_what_took_hold_of_each_result_and_when(loaded_shell: Any) -> None:
    loaded_shell.run_cell(f"%%inplace_watch --out report\n{CELL}")
    trace = loaded_shell.user_ns["report"].trace
    found = [(entry.target, entry.how, trace.calls[entry.call].name) for entry in bindings_of(trace)]
    assert found == [
        ("rows[]", "stored", "torch.tensor"),
        ("rows[]", "stored", "torch.tensor"),
        ("return", "returned", "Tensor.relu"),
        ("kept[]", "stored", "Tensor.mul"),
        ("return", "returned", "Tensor.relu"),
        ("kept[]", "stored", "Tensor.mul"),
        ("low", "assigned", "Tensor.aminmax"),
        ("high", "assigned", "Tensor.aminmax"),
        ("total", "assigned", "Tensor.sum"),
        ("total", "assigned", "Tensor.add"),
    ]
    returned = next(entry for entry in bindings_of(trace) if entry.how == "returned")
    assert (returned.place.function, returned.place.caller and returned.place.caller.line) == ("positive", 8)


def test_a_place_whose_text_is_not_known_binds_nothing() -> None:
    where = site(1, ("y = f(x)",))
    known = Trace(calls=(made(0, "f", where, (tensor(1),), (tensor(2),)),))
    assert [(entry.target, entry.tensor) for entry in bindings_of(known)] == [("y", 2)]
    unknown = Trace(calls=(made(0, "f", site(1, ("",)), (tensor(1),), (tensor(2),)),))
    assert list(bindings_of(unknown)) == []
