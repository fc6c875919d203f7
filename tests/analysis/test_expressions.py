"""Source expressions, read as text."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inplace_magic.source import expressions


def node(text: str) -> ast.expr:
    """The expression in `text`."""
    found = expressions.parse(text)
    assert isinstance(found, ast.expr)
    return found


def sources(nodes: list[ast.expr]) -> list[str]:
    return [ast.unparse(each) for each in nodes]


@settings(deadline=None)
@given(st.text(max_size=60))
def test_any_text_is_parsed_or_not_and_never_raises(text: str) -> None:
    found = expressions.parse(text)
    assert found is None or isinstance(found, ast.AST)


@pytest.mark.parametrize("text", ["", "x +", "a = 1; b = 2", "(" * 300 + ")" * 300, "x" * 5_000, "-" * 200 + "x", "\0"])
def test_what_is_no_single_statement_or_beyond_what_a_person_writes_is_unknown(text: str) -> None:
    assert expressions.parse(text) is None


@pytest.mark.parametrize("header", ["for row in rows:", "with torch.no_grad():", "if x.sum() > 0:"])
def test_the_header_of_a_compound_statement_is_understood(header: str) -> None:
    assert isinstance(expressions.parse(header), ast.stmt)


def test_a_warning_of_the_parser_is_not_shown_again(recwarn: pytest.WarningsRecorder) -> None:
    expressions.parse('x is "text that no other test has"')
    assert list(recwarn) == []


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("x", "x"),
        ("self.memory", "self.memory"),
        ("D[2].weight", "D[2].weight"),
        ("features['pre']", 'features["pre"]'),
        ("rows[-1]", "rows[-1]"),
        ("states[i]", "states[i]"),
        ("x[1:]", None),
        ("x[mask > 0]", None),
        ("f(x)", None),
        ("f(x).data", None),
        ("x + 1", None),
    ],
)
def test_a_path_is_names_attributes_and_simple_subscripts(text: str, path: str | None) -> None:
    assert expressions.path_text(node(text)) == path


def test_no_node_has_no_path_and_no_root() -> None:
    assert expressions.path_text(None) is None
    assert expressions.root_name(None) is None


@pytest.mark.parametrize(("text", "root"), [("self.net[0].weight", "self"), ("x", "x"), ("f(x)[0]", None)])
def test_the_root_of_a_path_is_its_first_name(text: str, root: str | None) -> None:
    assert expressions.root_name(node(text)) == root


@pytest.mark.parametrize(
    ("text", "method", "operands"),
    [
        ("x.add_(y, alpha=2)", True, ["x", "y"]),
        ("torch.add(x, y)", False, ["x", "y"]),
        ("F.relu(x, True)", False, ["x", "True"]),
        ("a += b", True, ["a", "b"]),
        ("a @ b", True, ["a", "b"]),
        ("x[0]", True, ["x"]),
        ("x.data", True, ["x"]),
        ("f(*xs, y)", False, ["y"]),
        ("x", True, []),
        ("not python at all", True, []),
    ],
)
def test_operands_are_the_receiver_and_the_positional_arguments(text: str, method: bool, operands: list[str]) -> None:
    assert sources(expressions.operands(text, method=method)) == operands


def test_a_keyword_argument_is_found_by_its_name() -> None:
    found = expressions.keyword("torch.mul(a, b, out=buffer)", "out")
    assert expressions.path_text(found) == "buffer"
    assert expressions.keyword("torch.mul(a, b)", "out") is None
    assert expressions.keyword("a + b", "out") is None


@pytest.mark.parametrize(
    ("text", "behind"),
    [
        ("x.data", "x"),
        ("x.detach().view(-1)", "x"),
        ("x.mul_(2).add_(1)", "x"),
        ("x.T", "x"),
        ("self.w.data", "self.w"),
        ("self.data", "self.data"),
        ("box.t", "box.t"),
        ("x.t()", "x"),
        ("x.clone()", "x.clone()"),
        ("x.__enter__()", "x.__enter__()"),
        ("x[0]", "x[0]"),
    ],
)
def test_the_tensor_behind_views_and_in_place_calls_is_found(text: str, behind: str) -> None:
    assert ast.unparse(expressions.without_aliasing(node(text))) == behind


def test_a_subscript_is_looked_through_only_where_it_took_a_view_of_a_tensor() -> None:
    taken = frozenset(("x[0]",))
    assert ast.unparse(expressions.without_aliasing(node("x[0].data"), taken)) == "x"
    assert ast.unparse(expressions.without_aliasing(node("maps[0].data"), taken)) == "maps[0]"


@pytest.mark.parametrize(
    ("call", "parameters", "name", "argument"),
    [
        ("rate(scores, y)", ("guess", "target"), "target", "y"),
        ("rate(scores, target=y[0])", ("guess", "target"), "target", "y[0]"),
        ("layer(x)", ("self", "input"), "input", "x"),
        ("Boxes.from_rows(x)", ("cls", "rows"), "rows", "x"),
        ("rate(*both)", ("guess", "target"), "target", None),
        ("rate(scores)", ("guess", "target"), "target", None),
        ("rate(scores)", ("guess", "target"), "other", None),
        ("scores + y", ("guess", "target"), "target", None),
    ],
)
def test_the_argument_that_a_call_gives_for_a_parameter(
    call: str, parameters: tuple[str, ...], name: str, argument: str | None
) -> None:
    found = expressions.parameter_argument(call, parameters, name)
    assert (None if found is None else ast.unparse(found)) == argument
