"""Which statements ran before the failing line, and which of them gave a name its value: read from the text.

Example::

    h = torch.zeros(4)
    for x in batches:
        h = cell(x, h)      # gave `h` its value in this pass
        h.sum().backward()  # raises

From the failing line backwards come the lines above it in the loop, then those below it, which ran in the pass before,
then what stands above the loop, and in a notebook the cells that ran before. A function's own lines end with its
parameters, whose values the calling line gave.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, takewhile

from inplace_magic.postmortem.failure import Failure, UserFrame
from inplace_magic.postmortem.reading import Scopes
from inplace_magic.record.places import Callsite
from inplace_magic.source.expressions import parameter_argument, parse, path_text
from inplace_magic.source.listing import LOOPS
from inplace_magic.source.statements import STORING, innermost, spans
from inplace_magic.source.text import FunctionNode, is_simple, placed

_BRANCHES = (ast.If, ast.Match, ast.ExceptHandler)
_INNER = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>", "<lambda>")
_MOST_STEPS = 5_000
_MOST_CALLERS = 20


@dataclass(frozen=True, eq=False)
class Step:
    """A statement that ran before the failure, or can have; of a compound one its header."""

    node: ast.stmt
    filename: str
    function: str
    around: tuple[ast.AST, ...]
    """The compound statements around it within its function, the outermost first; a function that holds it is the
    first."""
    caller: Callsite | None = None
    sure: bool = True
    """False for one in a branch or loop that the failing line is not in, which may not have run."""
    earlier_pass: bool = False
    """Whether it stands below the failing line in a loop around both, so that it ran in an earlier pass."""

    @cached_property
    def bound(self) -> tuple[tuple[str, ast.expr | None, str], ...]:
        """(path, value, how) of what it gives a value, as :func:`bound_by` has it."""
        return tuple(bound_by(self.node))


@dataclass(frozen=True, eq=False)
class Bound:
    """A statement that gave a name its value."""

    path: str
    value: ast.expr | None
    """What the value was computed by; None where the text does not show it alone, as in an unpacking."""
    how: str
    """``=``, ``+=``, ``for``, ``with``, or ``argument`` for a function's parameter."""
    step: Step
    frame: int | None = None
    """The user's frame in which it stands, where that is still alive."""


class History:
    """The statements before a failure.

    Args:
        failure: the failure.
    """

    def __init__(self, failure: Failure) -> None:
        self.failure = failure
        self._steps: dict[int, list[Step]] = {}

    def holder(self, frame: int) -> int:
        """Return the number of the function's frame around a comprehension's or lambda's."""
        frames = self.failure.frames
        while frame > 0 and frames[frame].code.co_name in _INNER:
            frame -= 1
        return frame

    def scopes(self, frame: int) -> Scopes:
        """Return the names in sight in a frame, the innermost first."""
        frames = self.failure.frames
        if not 0 <= frame < len(frames):
            return (self.failure.namespace,)
        own = [frames[each].names for each in range(frame, self.holder(frame) - 1, -1)]
        return (*own, frames[frame].globals, self.failure.namespace)

    def site(self, step: Step, node: ast.expr | ast.stmt | None = None) -> Callsite:
        """Return the place of a statement, or of an expression in it."""
        return self.failure.texts.site(step.filename, node or step.node, step.function, step.caller)

    def steps(self, frame: int) -> list[Step]:
        """What ran in a frame before the line at which it stands, the latest first; at the top of a notebook also the
        cells before."""
        frame = self.holder(frame)
        if frame not in self._steps:
            self._steps[frame] = list(self._read(self.failure.frames[frame])) if self.failure.frames else []
        return self._steps[frame]

    def around(self, frame: int) -> tuple[ast.AST, ...]:
        """Return the compound statements around the line at which a frame stands, the outermost first."""
        place, code = self.failure.frames[frame].place, self.failure.frames[frame].code
        text = self.failure.texts.text(code.co_filename)
        found = text.statements_on(place.line) if text is not None else []
        inner = [at for at, node in enumerate(found) if isinstance(node, (FunctionNode, ast.ClassDef))]
        return tuple(node for node in found[inner[-1] + 1 if inner else 0 :] if not is_simple(node))

    def _read(self, frame: UserFrame) -> Iterator[Step]:
        filename, texts, caller = frame.code.co_filename, self.failure.texts, frame.place.caller
        until = texts.position(filename, frame.place)
        if frame.code.co_flags & inspect.CO_OPTIMIZED:
            function = texts.function(frame.code)
            if function is not None:
                yield from steps_above(function.node, filename, function.name, until, caller)
            return
        whole = list(texts.programs(filename))
        if whole and whole[-1][0] == filename:
            yield from steps_above(whole[-1][1], filename, "<module>", until, caller)
            for name, tree in reversed(whole[:-1]):
                yield from steps_above(tree, name, "<module>", None, None)

    def binding(self, path: str, frame: int) -> Bound | None:
        """Return the latest statement of a frame that gave a name, or a path such as ``self.memory``, its value; of a
        parameter the line that called the function."""
        frame = self.holder(frame)
        return next(bindings_in(self.steps(frame), path, frame), None) or self._argument(path, frame)

    def origin(self, path: str, frame: int) -> Bound | None:
        """Return the same, and of an argument that is a name or path what gave the caller's its value, and so on."""
        found = self.binding(path, frame)
        for _step in range(_MOST_CALLERS):
            given = path_text(found.value) if found is not None and found.how == "argument" else None
            outer = self.binding(given, found.frame or 0) if found is not None and given is not None else None
            if outer is None:
                break
            found = outer
        return found

    def _argument(self, path: str, frame: int) -> Bound | None:
        frames = self.failure.frames
        if not 0 < frame < len(frames) or path not in frames[frame].place.parameters:
            return None
        outer = frames[frame - 1]
        given = parameter_argument(outer.place.expression, frames[frame].place.parameters, path)
        statement = parse(outer.place.statement)
        if given is None or not isinstance(statement, ast.AST):
            return None
        node = ast.copy_location(ast.Expr(given), given)
        place = outer.place
        node.lineno, node.end_lineno = place.line, place.end_line
        node.col_offset, node.end_col_offset = place.column or 0, place.end_column or 0
        step = Step(node, outer.code.co_filename, outer.place.function, (), outer.place.caller)
        return Bound(path, given, "argument", step, frame - 1)

    def of_attribute(self, name: str) -> Iterator[Bound]:
        """Yield every statement of the user's texts, wherever it stands, that gives an attribute of that name a value
        other than a constant."""
        for step in self.every_step():
            for path, value, how in step.bound:
                if path.endswith(f".{name}") and not isinstance(value, ast.Constant):
                    yield Bound(path, value, how, step)

    def storing(self, root: str) -> Iterator[Step]:
        """Yield every statement of the user's texts that puts something into a container of that name; none where one
        empties it."""
        found = []
        for step in self.every_step():
            called = step.node.value if isinstance(step.node, ast.Expr) else None
            method = called.func if isinstance(called, ast.Call) else None
            if isinstance(method, ast.Attribute) and path_text(method.value) == root:
                if method.attr in ("clear", "pop", "popleft"):
                    return
                found += [step] if method.attr in STORING else []
        yield from found

    def every_step(self) -> Iterator[Step]:
        """Yield all statements of every text that ran, inside of functions too."""
        for filename, tree in self.everything():
            for node, around, function in islice(placed(tree), _MOST_STEPS):
                yield Step(node, filename, function or "<module>", around)

    def everything(self) -> list[tuple[str, ast.Module]]:
        """(compiled name, tree) of every text that ran, the latest first: files of the frames, cells."""
        texts = self.failure.texts
        found: dict[str, ast.Module] = {}
        for frame in reversed(self.failure.frames):
            text = texts.text(frame.code.co_filename)
            if text is not None and text.tree is not None:
                found.setdefault(frame.code.co_filename, text.tree)
        top = self.failure.frames[0].code.co_filename if self.failure.frames else None
        for filename, tree in reversed(list(texts.programs(top))):
            found.setdefault(filename, tree)
        return list(found.items())


def bindings_in(steps: Iterable[Step], path: str, frame: int | None) -> Iterator[Bound]:
    """Yield what among some statements gave a name or path its value."""
    for step in steps:
        for name, value, how in step.bound:
            if name == path:
                yield Bound(path, value, how, step, frame)


def steps_above(
    owner: ast.AST, filename: str, function: str, until: tuple[int, int | None] | None, caller: Callsite | None
) -> Iterator[Step]:
    """Yield the statements of a function or text that can have run before a place in it, the latest first.

    Args:
        owner: the function, or the tree of a text.
        filename: the name under which it was compiled.
        function: name of the function.
        until: line, and column in bytes where that is known; None for the end of it.
        caller: the line that called it.
    """
    first = (owner,) if isinstance(owner, FunctionNode) else ()
    line, column = until or (10**9, None)
    every = [(node, (*first, *around)) for node, around, inner in placed(owner) if not inner]
    before = sum(1 for node, _ in every if node.lineno <= line)
    every = every[max(0, before - _MOST_STEPS) : before + _MOST_STEPS]
    here = {node: around for node, around in every if spans(node, line)}
    at = innermost([*here], line, column)
    blocks = here[at] if at is not None else ()
    end = (at.lineno, at.col_offset) if at is not None else (line, 10**9)
    if at is not None and not is_simple(at):
        blocks = (*blocks, at)
    loops = [block for block in blocks if isinstance(block, LOOPS)]
    ranked: list[tuple[tuple[int, int, int, int], Step]] = []
    for node, around in every:
        own = [block for block in (*around, node) if isinstance(block, LOOPS)]
        depth = sum(1 for _ in takewhile(lambda pair: pair[0] is pair[1], zip(own, loops, strict=False)))
        below = (node is at and is_simple(node)) or (node.lineno, node.col_offset) > end
        if below and depth == 0:
            continue
        sure = not any(isinstance(block, (*_BRANCHES, *LOOPS)) for block in around if block not in blocks)
        step = Step(node, filename, function, around, caller, sure, below)
        ranked.append(((-depth, int(below), -node.lineno, -node.col_offset), step))
    ranked.sort(key=lambda pair: pair[0])
    yield from (step for _, step in ranked)


def bound_by(node: ast.stmt) -> Iterator[tuple[str, ast.expr | None, str]]:
    """Yield (path, value, how) for each name that a statement gives a value; of a compound one its header alone."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            yield from _assignments(target, node.value)
    elif isinstance(node, ast.AnnAssign) and node.value is not None:
        yield from _assignments(node.target, node.value)
    elif isinstance(node, ast.AugAssign):
        path = path_text(node.target)
        if path is not None:
            yield path, node.value, "+="
    elif isinstance(node, (ast.For, ast.AsyncFor)):
        yield from ((path, node.iter, "for") for path, _, _ in _assignments(node.target, None))
    elif isinstance(node, (ast.With, ast.AsyncWith)):
        for item in node.items:
            if item.optional_vars is not None:
                yield from ((path, item.context_expr, "with") for path, _, _ in _assignments(item.optional_vars, None))
    if is_simple(node):
        for each in ast.walk(node):
            if isinstance(each, ast.NamedExpr) and isinstance(each.target, ast.Name):
                yield each.target.id, each.value, "="


def _assignments(target: ast.expr, value: ast.expr | None) -> Iterator[tuple[str, ast.expr | None, str]]:
    if isinstance(target, (ast.Tuple, ast.List)):
        together = isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(target.elts)
        for index, entry in enumerate(target.elts):
            inner = value.elts[index] if together and isinstance(value, (ast.Tuple, ast.List)) else value
            yield from _assignments(entry.value if isinstance(entry, ast.Starred) else entry, inner)
        return
    path = path_text(target)
    if path is not None:
        yield path, value, "="
