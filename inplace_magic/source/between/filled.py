"""The line that filled an array between two recorded calls, in a function that ran between them and made none."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from inplace_magic.record.places import Callsite
from inplace_magic.source.between.order import loop_around
from inplace_magic.source.expressions import path_text
from inplace_magic.source.shared_arrays import Filled, filled_in
from inplace_magic.source.statements import statements_by_function
from inplace_magic.source.text import Text

_NO_END = 10**9
_DEEP = 3
"""Functions that call each other, from the lines between the two calls to the one that fills."""


def filled_between(text: Text, first: Callsite, last: Callsite | None) -> Filled | None:
    """The first place that fills an array, of the one function of a text that does so and can have run between two
    places; None where there are several such functions, or none.

    Args:
        text: the text of the function in which the two places part.
        first: where the last call before was made.
        last: where the next one was made; None at the end of the block.
    """
    places = filled_in(text)
    called = _called_between(text, first, last) if places else set()
    ran = [place for place in places if place.pauses or place.function.rpartition(".")[2] in called]
    return ran[0] if len({place.function for place in ran}) == 1 else None


def filled_for_each(text: Text) -> Filled | None:
    """The one place of a text that fills an array in a loop which makes a tensor of it in each pass."""
    places = filled_in(text)
    each = [place for place in places if place.maker is not None]
    return each[0] if each and len({place.function for place in places}) == 1 else None


def _called_between(text: Text, first: Callsite, last: Callsite | None) -> set[str]:
    """The names of the functions that the lines between two places call, and that these call."""
    assert text.tree is not None
    begin, end = (first.line, last.line if last is not None else _NO_END)
    if end <= first.line:  # a loop came round
        loop = loop_around(text.tree, first.line)
        begin, end = (loop.lineno, loop.end_lineno or _NO_END) if loop is not None else (0, _NO_END)
    lines = (node for _, node in statements_by_function(text.tree, first.function))
    nodes: list[ast.AST] = [node for node in lines if (node.end_lineno or node.lineno) >= begin and node.lineno <= end]
    found: set[str] = set()
    for _ in range(_DEEP):
        called = set(_calls(nodes)) - found
        found |= called
        nodes = [listed.node for name in called for listed in text.functions.get(name, ())]
    return found


def _calls(nodes: list[ast.AST]) -> Iterator[str]:
    for node in nodes:
        for inner in ast.walk(node):
            if isinstance(inner, ast.Call):
                yield (path_text(inner.func) or str(getattr(inner.func, "attr", ""))).rpartition(".")[2]
