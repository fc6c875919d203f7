"""The rooms of the package: their lines, the arrows between them, and files that import each other in a circle.

    python benchmarks/rooms.py [CHECKOUT]

A room is a folder or a file at the top of the package. An arrow from one to another is an import in any of its files.
Two commits are held against each other by a checkout of each: ``git worktree add ../older COMMIT``.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

NAME = "inplace_magic"


def imports(tree: ast.AST, *, deep: bool) -> Iterator[str]:
    """The modules that a file imports.

    Args:
        tree: of the file.
        deep: look into functions and ``if TYPE_CHECKING:``, too.
    """
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        later = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)) or (
            isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")
        )
        if deep or not later:
            yield from imports(node, deep=deep)


def file_of(package: Path, module: str) -> str | None:
    """The file of the package that an imported name stands in; None where it is of another package."""
    parts = module.split(".")
    if parts[0] != NAME:
        return None
    for length in range(len(parts), 0, -1):
        path = "/".join(parts[1:length])
        for file in (f"{path}.py", f"{path}/__init__.py".removeprefix("/")):
            if (package / file).is_file():
                return file
    return None


def graph_of(package: Path, *, deep: bool) -> dict[str, set[str]]:
    """The files that each file imports."""
    graph = {}
    for file in sorted(package.rglob("*.py")):
        name = file.relative_to(package).as_posix()
        found = (file_of(package, module) for module in imports(ast.parse(file.read_text("utf-8")), deep=deep))
        graph[name] = {other for other in found if other is not None and other != name}
    return graph


def circles(graph: dict[str, set[str]]) -> list[set[str]]:
    """The largest sets of files of which each leads to all the others."""
    reached = {}
    for start in graph:
        seen, ahead = set[str](), [start]
        while ahead:
            new = graph[ahead.pop()] - seen
            seen |= new
            ahead += new
        reached[start] = seen
    found: dict[frozenset[str], None] = {}
    for file, others in reached.items():
        if file in others:
            found[frozenset(other for other in others if file in reached[other])] = None
    return [set(circle) for circle in found]


def room_of(file: str) -> str:
    """``render/`` of ``render/words.py``."""
    return f"{file.split('/')[0]}/" if "/" in file else file


def main() -> None:
    """Prints the figures, and a line for each room."""
    package = Path(sys.argv[1] if sys.argv[1:] else ".") / NAME
    graph = graph_of(package, deep=True)
    lines: Counter[str] = Counter()
    files: Counter[str] = Counter()
    for file in graph:
        lines[room_of(file)] += len((package / file).read_text("utf-8").splitlines())
        files[room_of(file)] += 1
    arrows = {(room_of(a), room_of(b)) for a, others in graph.items() for b in others if room_of(a) != room_of(b)}
    at_once = circles(graph_of(package, deep=False))
    print(f"{len(files)} rooms, {len(arrows)} arrows between them, {len(graph)} files, {sum(lines.values()):,} lines")
    print(f"circles of files: {len(at_once)} as they are loaded; with imports inside functions and for types alone:")
    for circle in sorted(circles(graph), key=len, reverse=True):
        print(f"  {len(circle)} files of {', '.join(sorted({room_of(file) for file in circle}))}")
    longest = sorted(((len((package / f).read_text("utf-8").splitlines()), f) for f in graph), reverse=True)
    print(f"files over 300 lines: {', '.join(f'{f} {n}' for n, f in longest if n > 300) or 'none'}")
    for room, count in lines.most_common():
        print(f"{count:7,} {files[room]:4} {room}")


if __name__ == "__main__":
    main()
