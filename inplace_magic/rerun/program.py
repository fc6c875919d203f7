"""The program of a comparison: a cell's code in the notebook's namespace, or a callable with its arguments."""

from __future__ import annotations

import ast
import dis
import io
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from types import CodeType
from typing import Any, ClassVar

RESULT = "result"
"""Name of a callable's result and of the value of a cell's last expression."""


class _OfANamespace:
    """A program that gets all its objects from a namespace, and none besides."""

    __slots__ = ()
    roots: ClassVar[tuple[Any, ...]] = ()

    def given(self, roots: tuple[Any, ...]) -> Iterator[tuple[str, Any]]:
        """Named objects of `roots`: none."""
        return iter(())


@dataclass(frozen=True, slots=True)
class CellProgram(_OfANamespace):
    """Code of a cell.

    Args:
        body: its statements, without a last expression.
        last: the last expression, or None.
    """

    name: str
    body: CodeType
    last: CodeType | None
    results: tuple[str, ...]
    namespace: dict[str, Any]
    filename: str
    source: str
    cell: int | None = None
    compares_result: bool = False
    """The value of the last assignment is compared whatever its name, as two different cells need it."""
    quoted: tuple[CodeType, ...] = ()
    """Code that stands in texts, as that of ``%time loss = step()``."""

    @property
    def codes(self) -> tuple[CodeType, ...]:
        """All code that runs in the namespace."""
        return (*self.quoted, self.body) if self.last is None else (*self.quoted, self.body, self.last)

    def run(self, roots: tuple[Any, ...]) -> Any:
        """Runs it; gives the value of the last expression, or of the last assignment."""
        exec(self.body, self.namespace)
        if self.last is not None:
            return eval(self.last, self.namespace)
        values = tuple(self.namespace.get(name) for name in self.results)
        return values[0] if len(values) == 1 else values

    def outputs(self, value: Any) -> Iterator[tuple[str, Any]]:
        """Yield the value, then every name that the cell bound."""
        if self.last is not None or self.compares_result:
            yield RESULT, value
        steps = (step for code in (self.body, *self.quoted) for step in dis.get_instructions(code))
        bound = dict.fromkeys(str(step.argval) for step in steps if step.opname == "STORE_NAME")
        for name in bound:
            if name in self.namespace and not (self.compares_result and name in self.results):
                yield name, self.namespace[name]


@dataclass(frozen=True, slots=True)
class CallProgram:
    """A callable and its arguments."""

    name: str
    function: Callable[..., Any]
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    names: tuple[str, ...] = ()
    """Names of the positional arguments."""
    namespace: None = None
    codes: tuple[CodeType, ...] = ()

    @property
    def roots(self) -> tuple[Any, ...]:
        """The callable and its arguments, copied together."""
        return self.function, self.args, dict(self.kwargs)

    def run(self, roots: tuple[Any, ...]) -> Any:
        """Calls the copied callable with the copied arguments."""
        function, args, kwargs = roots
        return function(*args, **kwargs)

    def outputs(self, value: Any) -> Iterator[tuple[str, Any]]:
        """Yield the result of the call."""
        yield RESULT, value

    def given(self, roots: tuple[Any, ...]) -> Iterator[tuple[str, Any]]:
        """Yield the arguments and the callable itself, whose parameters go by their own names."""
        function, args, kwargs = roots
        for position, value in enumerate(args):
            yield self.names[position] if position < len(self.names) else f"inputs[{position}]", value
        yield from kwargs.items()
        yield "", getattr(function, "__self__", function)


@contextmanager
def unprinted() -> Iterator[None]:
    """In this block, the code prints nothing."""
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        yield


def program_of(
    statements: list[ast.stmt],
    *,
    name: str,
    namespace: dict[str, Any],
    filename: str,
    source: str,
    cell: int | None = None,
) -> CellProgram:
    """Return the program of some statements that run in a namespace; see :class:`CellProgram`.

    Raises:
        SyntaxError: they cannot stand outside of a function, such as ``return``.
    """
    last = statements[-1] if statements and isinstance(statements[-1], ast.Expr) else None
    body = statements[:-1] if last is not None else statements
    compiled = compile(ast.Module(body, []), filename, "exec", dont_inherit=True)
    value = compile(ast.Expression(last.value), filename, "eval", dont_inherit=True) if last is not None else None
    assigned = body[-1] if body and last is None else None
    targets = assigned.targets if isinstance(assigned, ast.Assign) else []
    results = tuple(node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name))
    return CellProgram(name, compiled, value, results, namespace, filename, source, cell)


@dataclass(frozen=True, slots=True)
class StoryProgram(_OfANamespace):
    """Programs of one namespace that run in turn, like cells.

    Args:
        parts: in their order; at least one.
        may_fail: execution counts of those whose errors do not stop the next one.
    """

    parts: tuple[CellProgram, ...]
    may_fail: frozenset[int] = frozenset()

    @property
    def name(self) -> str:
        """What the last one is called."""
        return self.parts[-1].name

    @property
    def namespace(self) -> dict[str, Any]:
        """The notebook's."""
        return self.parts[-1].namespace

    @property
    def codes(self) -> tuple[CodeType, ...]:
        """All code that runs in the namespace."""
        return tuple(code for part in self.parts for code in part.codes)

    def run(self, roots: tuple[Any, ...]) -> Any:
        """Runs them; gives the value of the last."""
        value = None
        for part in self.parts:
            value = self.run_part(part)
        return value

    def run_part(self, part: CellProgram) -> Any:
        """Runs one of them."""
        try:
            return part.run(())
        except Exception:
            if part is self.parts[-1] or part.cell not in self.may_fail:
                raise
        return None

    def outputs(self, value: Any) -> Iterator[tuple[str, Any]]:
        """Yield the value, then every name that any of them bound."""
        seen: set[str] = set()
        for part in reversed(self.parts):
            for name, bound in part.outputs(value):
                if name not in seen and (name != RESULT or part is self.parts[-1]):
                    seen.add(name)
                    yield name, bound


Program = CellProgram | CallProgram | StoryProgram
