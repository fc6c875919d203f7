"""What the statements of a source text do, as far as the text alone tells: which can write memory, which give an object
a second name."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from inplace_magic.source.text import Text, is_simple, statements_inside
from inplace_magic.source.vocabulary import ARRAY_WRITERS, BUFFER_FILLERS, NOT_ALWAYS_COPIES


def segment(lines: list[str], line: int, end_line: int, column: int, end_column: int) -> str:
    """The text between two places; columns count UTF-8 bytes."""
    if not 0 < line <= end_line <= len(lines):
        return ""
    picked = [text.encode() for text in lines[line - 1 : end_line]]
    picked[-1] = picked[-1][:end_column]
    picked[0] = picked[0][column:]
    return b"\n".join(picked).decode(errors="replace")


def innermost(statements: list[ast.stmt], line: int, column: int | None) -> ast.stmt | None:
    """Of the statements on a line the innermost one; of ``a = f(x); b = g(x)``, that which holds the column."""
    holding = [
        node
        for node in statements
        if column is None
        or (node.lineno, node.col_offset)
        <= (line, column)
        < (node.end_lineno or node.lineno, node.end_col_offset or column + 1)
    ]
    return max(holding or statements, key=lambda node: (node.lineno, node.col_offset), default=None)


def statement_text(best: ast.stmt | None, lines: list[str]) -> str:
    """Source of a statement; of a compound one, its header."""
    if best is None:
        return ""
    body = getattr(best, "body", None)
    last = best.end_lineno or best.lineno
    if isinstance(body, list) and body:
        last = max(best.lineno, body[0].lineno - 1)
    text = "\n".join(lines[best.lineno - 1 : last])
    if not body:
        text = segment(lines, best.lineno, last, best.col_offset, best.end_col_offset or 0)
    return text.strip()


def statements_by_function(tree: ast.AST, function: str | None = None) -> Iterator[tuple[str, ast.stmt]]:
    """Every simple statement with the qualified name of its function, as code objects spell it. A ``for`` loop comes
    before the statements in it.

    Args:
        tree: of a text.
        function: look for those of one function only.
    """

    def visit(node: ast.AST, holder: str, prefix: str) -> Iterator[tuple[str, ast.stmt]]:
        for child in statements_inside(node):
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
                name = f"{prefix}{child.name}"
                if function is None or name == function or function.startswith(f"{name}.<locals>."):
                    yield from visit(child, name, f"{name}.<locals>.")
            elif isinstance(child, ast.ClassDef):
                name = f"{prefix}{child.name}"
                if function is None or name == function or function.startswith(f"{name}."):
                    yield from visit(child, name, f"{name}.")
            elif not is_simple(child):
                if isinstance(child, (ast.For, ast.AsyncFor)) and (function is None or holder == function):
                    yield holder, child
                yield from visit(child, holder, prefix)
            elif function is None or holder == function:
                yield holder, child

    yield from visit(tree, "<module>", "")


def in_force(tree: ast.AST) -> ast.AST:
    """The tree without the plain functions at its top that a later one of the same name replaces."""
    if not isinstance(tree, ast.Module):
        return tree
    last = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    kept = (n for n in tree.body if not isinstance(n, ast.FunctionDef) or n.decorator_list or last[n.name] is n)
    return ast.Module(list(kept), tree.type_ignores)


_IDLE = (ast.For, ast.AsyncFor, ast.Import, ast.ImportFrom, ast.Pass, ast.Global, ast.Nonlocal, ast.Break, ast.Continue)


def simple_statements(tree: ast.AST, function: str) -> list[ast.stmt]:
    """The statements of a function that can do something."""
    return [
        node
        for _, node in statements_by_function(tree, function)
        if not isinstance(node, _IDLE) and not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
    ]


def actions(node: ast.stmt, lines: list[str]) -> list[str]:
    """Sources of what a statement does that can write memory: its calls, and itself where it assigns in place."""
    acting: list[Any] = [inner for inner in ast.walk(node) if isinstance(inner, ast.Call)]
    if isinstance(node, (ast.AugAssign, ast.Delete)) or (
        isinstance(node, ast.Assign) and any(isinstance(target, ast.Subscript) for target in node.targets)
    ):
        acting.append(node)
    return [segment(lines, n.lineno, n.end_lineno or n.lineno, n.col_offset, n.end_col_offset or 0) for n in acting]


def writes_to(node: ast.stmt, name: str) -> bool:
    """Whether a statement assigns in place to something that begins with `name`, or hands that to a function of NumPy
    which writes it."""
    if any(name == ast.unparse(array) for array in arrays_written(node)):
        return True
    targets = [node.target] if isinstance(node, ast.AugAssign) else node.targets if isinstance(node, ast.Assign) else []
    for target in targets:
        root: ast.expr = target
        while isinstance(root, (ast.Attribute, ast.Subscript)):
            root = root.value
        plain = isinstance(target, ast.Name) and isinstance(node, ast.Assign)
        if isinstance(root, ast.Name) and root.id == name and not plain:
            return True
    return False


def arrays_written(node: ast.AST, *, deep: bool = True) -> Iterator[ast.expr]:
    """What a statement hands to functions of NumPy that write it, and to streams that fill it.

    Args:
        node: the statement, or a call.
        deep: look at the calls in it, too.
    """
    for call in ast.walk(node) if deep else (node,):
        if not isinstance(call, ast.Call):
            continue
        yield from (keyword.value for keyword in call.keywords if keyword.arg == "out")
        if isinstance(call.func, ast.Attribute) and call.func.attr in BUFFER_FILLERS:
            yield from call.args[:1]
        if not isinstance(call.func, ast.Attribute) or call.func.attr not in ARRAY_WRITERS:
            continue
        anew = any(k.arg == "copy" and getattr(k.value, "value", None) is False for k in call.keywords)
        if call.func.attr != "nan_to_num" or anew:
            method = call.func.attr in ("fill", "sort")
            yield from (call.func.value,) if method else call.args[:1]


def stands_beside(tree: ast.AST, node: ast.stmt, lines: tuple[int, ...]) -> bool:
    """Whether one block holds the statement and the one at one of the lines, so that it ran whenever that did."""
    blocks = (block for inner in ast.walk(tree) for _, block in ast.iter_fields(inner) if isinstance(block, list))
    block = next((block for block in blocks if any(each is node for each in block)), [])
    others = (each for each in block if each is not node)
    return any(each.lineno <= line <= (each.end_lineno or each.lineno) for each in others for line in lines)


def runs_after(tree: ast.AST, node: ast.stmt, line: int) -> bool:
    """Whether a statement stands below a line in the same pass of the innermost loop around it, in the same block."""
    inner = loop_around(tree, line)
    inside = inner is not None and line < node.lineno <= (inner.body[-1].end_lineno or 0)
    return inside and stands_beside(tree, node, (line,))


def opens_the_pass(tree: ast.AST, node: ast.stmt, line: int, *, holding: int) -> bool:
    """Whether a statement stands above a line in the same block of the innermost loop around it, which holds another
    line, too: coming round from that one, it runs before the first."""
    inner = loop_around(tree, line)
    if inner is None:
        return False
    first, last = inner.body[0].lineno, inner.body[-1].end_lineno or 0
    return first <= node.lineno < line and first <= holding <= last and stands_beside(tree, node, (line,))


def loop_around(tree: ast.AST, line: int) -> ast.For | ast.While | None:
    """The innermost loop that has a line in its body."""
    loops = [
        loop
        for loop in ast.walk(tree)
        if isinstance(loop, (ast.For, ast.While)) and loop.body[0].lineno <= line <= (loop.body[-1].end_lineno or line)
    ]
    return max(loops, key=lambda loop: loop.lineno, default=None)


def mentions(node: ast.AST, name: str) -> bool:
    """Whether a statement names something."""
    return any(isinstance(inner, ast.Name) and inner.id == name for inner in ast.walk(node))


def alias_pairs(node: ast.stmt) -> Iterator[tuple[str, str]]:
    """(new name, old name) of ``a = b``, ``a = b.detach()``, ``a = b.to(device)``, ``a = b = f()``, ``a, b = c, d``,
    ``d[k] = b``, ``d.append(b)``, ``d.append((b, c))`` and, with ``return`` as the new name, of what a function
    gives."""
    if isinstance(node, ast.Assign):
        source = _path(_undetached(node.value))
        if source is not None or len(node.targets) > 1:
            paths = [path for target in node.targets if (path := _path(target)) is not None]
            yield from ((path, source) for path in paths) if source is not None else ((p, paths[0]) for p in paths[1:])
        for target in node.targets:
            if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                for left, right in zip(target.elts, node.value.elts, strict=False):
                    new, old = _path(left), _path(_undetached(right))
                    if new is not None and old is not None:
                        yield new, old
    elif isinstance(node, ast.Return) and node.value is not None:
        yield from (("return", path) for value in _entries(node.value) if (path := _path(value)) is not None)
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Attribute):
        call, owner = node.value, _path(node.value.func.value)
        if node.value.func.attr == "append" and len(call.args) == 1 and owner is not None:
            for entry in _entries(call.args[0]):
                source = _path(_undetached(entry))
                if source is not None:
                    yield f"{owner}[]", source


@lru_cache(maxsize=16)
def aliases_in(text: Text) -> tuple[tuple[str, int, str, str, str], ...]:
    """(function, line, new name, old name, the line) of all statements of a text that give an object a second name; of
    a file that is in many reports they are looked for once."""
    return tuple(
        (function, node.lineno, target, source, text.line(node.lineno))
        for function, node in (statements_by_function(in_force(text.tree)) if text.tree is not None else ())
        for target, source in alias_pairs(node)
    )


def _entries(node: ast.expr) -> list[ast.expr]:
    """The entries of ``(state, reward)``, ``{"loss": total}``, ``dict(loss=total)`` and ``[total] + parts``, as they
    are appended to a list or returned; of anything else, itself."""
    made = isinstance(node, (ast.Tuple, ast.List, ast.Dict, ast.BinOp)) or _is_made_of_keywords(node)
    return [value for _key, value in entries_by_key(node)] if made else [node]


def entries_by_key(node: ast.expr) -> list[tuple[str, ast.expr]]:
    """(key as text, entry) of what is written as a container; of ``[total] + parts`` those that are written out."""
    if isinstance(node, (ast.Tuple, ast.List)):
        return [(str(place), entry) for place, entry in enumerate(node.elts)]
    if isinstance(node, ast.Dict):
        keyed = zip(node.keys, node.values, strict=True)
        return [(ast.unparse(key) if key is not None else "**", value) for key, value in keyed]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        sides = [side for side in (node.left, node.right) if isinstance(side, (ast.Tuple, ast.List, ast.BinOp))]
        return [entry for side in sides for entry in entries_by_key(side)]
    if isinstance(node, ast.Call) and _is_made_of_keywords(node):
        return [(repr(keyword.arg) if keyword.arg is not None else "**", keyword.value) for keyword in node.keywords]
    return []


def _is_made_of_keywords(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "dict" and not node.args


def _undetached(node: ast.expr) -> ast.expr:
    """``x`` of ``x.detach()``, ``x.data`` and of ``x.float()``, which many take for copies."""
    if isinstance(node, ast.Attribute) and node.attr == "data" and not isinstance(node.value, ast.Attribute):
        return node.value
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in NOT_ALWAYS_COPIES:
        return node.func.value
    return node


def _path(node: ast.expr) -> str | None:
    if isinstance(node, ast.Name):  # the most common by far, and `unparse` takes ten times as long
        return node.id
    if isinstance(node, ast.Attribute) or (
        isinstance(node, ast.Subscript) and isinstance(node.slice, (ast.Constant, ast.Name))
    ):
        root: ast.expr = node
        while isinstance(root, (ast.Attribute, ast.Subscript)):
            root = root.value
        if isinstance(root, ast.Name):
            return ast.unparse(node).replace("'", '"')
    return None


def shared_defaults(function: ast.FunctionDef | ast.AsyncFunctionDef) -> tuple[str, ...]:
    """Parameters of a function with a default that is computed, and so is one object for all calls, and that the
    function binds to nothing else. A decorated function has none: what calls it may hand in anything."""
    return _computed_defaults(function) if function.decorator_list == [] else ()


def _computed_defaults(function: ast.FunctionDef | ast.AsyncFunctionDef) -> tuple[str, ...]:
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    pairs: list[tuple[ast.arg, ast.expr | None]] = [
        *zip(positional[len(positional) - len(arguments.defaults) :], arguments.defaults, strict=True),
        *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
    ]
    computed = [name.arg for name, default in pairs if default is not None and not isinstance(default, ast.Constant)]
    if not computed:  # of nearly all functions, and to walk through one takes longer than all else that is asked of it
        return ()
    added_to = {id(node.target) for node in ast.walk(function) if isinstance(node, ast.AugAssign)}
    names = (node for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    bound = {node.id for node in names if id(node) not in added_to}
    return tuple(name for name in computed if name not in bound)


def indent_of(statement: ast.stmt | None, line: int, lines: list[str]) -> str:
    """The white space before a statement that has tabs there, or begins above `line`."""
    text = lines[statement.lineno - 1] if statement is not None and statement.lineno <= len(lines) else ""
    white = text[: len(text) - len(text.lstrip())]
    return white if "\t" in white or (statement is not None and statement.lineno < line) else ""
