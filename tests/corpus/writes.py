"""In-place writes for a file of a checkout: where one can stand, and a tree that differs by it alone."""

from __future__ import annotations

import ast
import random
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import FrameType
from typing import Any

import torch
from corpus import body, run

LOUD = (
    "{0}.add_(1)",
    "{0} *= 2",
    "{0} -= 0.5",
    "{0}[..., 0] = 0",
    "{0}[0].mul_(2)",
    "{0}.relu_()",
    "{0}.clamp_(min=0.1)",
    "{0}.copy_({0} * 2)",
    "{0}.view(-1).add_(1)",
    "{0}.detach().add_(1)",
    "{0}.masked_fill_({0} > 0, 0.5)",
    "written = {0}; written += 1",
    "with torch.no_grad(): {0}.mul_(0.5)",
    "torch.nn.functional.leaky_relu({0}, inplace=True)",
)
SILENT = ("{0}.data.add_(1)", "{0}.data *= 2", "{0}.data[..., 0] = 0.5", "{0}.detach().numpy()[...] = 0.25")
VISITS = 3
"""How often the tensors of one line are looked at."""

Seen = dict[str, dict[int, list[str]]]
"""File below the checkout → line → names of results with a graph at each of its visits."""


@dataclass(frozen=True)
class Variant:
    """One statement put before a line of a file."""

    file: str
    line: int
    function: str
    indent: str
    name: str
    form: str

    @property
    def text(self) -> str:
        """Return the statement."""
        return self.form.format(self.name)

    def of(self, checkout: Path) -> str:
        """Return the text of the file with the statement."""
        rows = text_of(checkout / self.file).split("\n")
        return "\n".join([*rows[: self.line - 1], self.indent + self.text, *rows[self.line - 1 :]])


def text_of(file: Path) -> str:
    return file.read_text(encoding="utf-8", errors="replace")


def seen_by(driver: run.Driver, checkout: Path) -> tuple[Seen, str]:
    """Return the tensors in sight of each line that a plain run passes; and, if it fails, how."""

    def work(place: Path) -> Any:
        seen: dict[str, dict[int, list[set[str]]]] = {}

        def of_line(frame: FrameType, event: str, _: Any) -> Any:
            visits = seen[frame.f_code.co_filename].setdefault(frame.f_lineno, [])
            if event == "line" and len(visits) < VISITS:
                visits.append({name for name, value in frame.f_locals.items() if _matters(value)})
            return of_line

        def of_call(frame: FrameType, _event: str, _: Any) -> Any:
            name = frame.f_code.co_filename
            if not name.startswith(f"{checkout}/"):
                return None
            seen.setdefault(name, {})
            return of_line

        sys.settrace(of_call)
        outcome = body.run(driver.text, "plain", checkout, place)
        sys.settrace(None)
        in_all = {
            file: {line: sorted(set.intersection(*visits)) for line, visits in lines.items() if visits}
            for file, lines in seen.items()
        }
        return outcome.error, {str(Path(file).relative_to(checkout)): lines for file, lines in in_all.items()}

    given, problem = run.in_fork(work, checkout)
    error, found = given or (problem, {})
    return {file: {int(line): names for line, names in lines.items()} for file, lines in found.items()}, error or ""


def _matters(value: object) -> bool:
    try:
        return isinstance(value, torch.Tensor) and not value.is_leaf and value.dim() > 0 and torch.is_grad_enabled()
    except RuntimeError:  # a view made under `no_grad` whose base was written with grad on refuses the question
        return False


def variants(seen: Seen, checkout: Path, chance: random.Random) -> Iterator[Variant]:
    """Yield variants in random order; first those that write what the statement above binds or reads."""
    found: list[tuple[bool, Variant]] = []
    for file in sorted(seen):
        text = text_of(checkout / file)
        for function, above, statement in _statements(text):
            near = {node.id for node in ast.walk(above) if isinstance(node, ast.Name)} if above else set()
            row = text.split("\n")[statement.lineno - 1]
            indent = row[: len(row) - len(row.lstrip())]
            names = seen[file].get(statement.lineno, []) if len(indent) == statement.col_offset else []
            found += [(name not in near, Variant(file, statement.lineno, function, indent, name, "")) for name in names]
    chance.shuffle(found)
    for _, variant in sorted(found, key=lambda each: each[0]):
        yield replace(variant, form=chance.choice(LOUD))


def _statements(text: str) -> Iterator[tuple[str, ast.stmt | None, ast.stmt]]:
    """Yield (function, statement above in the same block, statement) of each statement of a function."""
    for function in ast.walk(ast.parse(text)):
        blocks = [getattr(node, "body", []) for node in ast.walk(function)] if _is_function(function) else []
        for block in (block for block in blocks if isinstance(block, list)):
            for above, statement in zip([None, *block], block, strict=False):
                if not isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
                    yield getattr(function, "name", ""), above, statement


def _is_function(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef)


@contextmanager
def with_text(checkout: Path, file: str, text: str) -> Iterator[Path]:
    """Give a tree that is the checkout except for one file; everything beside it is linked."""
    with tempfile.TemporaryDirectory(prefix="injected") as folder:
        tree, here = Path(folder) / checkout.name, checkout
        for part in Path(file).parts:
            tree.mkdir()
            for entry in here.iterdir():
                if entry.name not in (part, "__pycache__"):
                    (tree / entry.name).symlink_to(entry)
            tree, here = tree / part, here / part
        tree.write_text(text, encoding="utf-8")
        yield Path(folder) / checkout.name
