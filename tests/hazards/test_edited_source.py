"""A line is blamed only where it is what ran: modules that were edited since, and code without a source."""

from __future__ import annotations

import importlib
import linecache
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch

import inplace_magic
from inplace_magic.report import Report

OLD = """\
import torch
SCALE = 2


def squash(x):
    y = torch.sigmoid(x)
    y *= 2
    return y
"""
EDITED = """\
import torch


# a remark
def other(x):
    # one more
    SCALE = 3
    return x * SCALE


def squash(x):
    y = torch.sigmoid(x)
    y *= 3
    return y
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[ModuleType, Path]]:
    """A module that was imported from a file."""
    path = tmp_path / "edited_module.py"
    path.write_text(OLD, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    yield importlib.import_module("edited_module"), path
    del sys.modules["edited_module"]
    linecache.cache.pop(str(path), None)


def raised_by(module: ModuleType) -> str:
    """What PyTorch says without us."""
    with pytest.raises(RuntimeError) as caught:
        module.squash(torch.ones(3, requires_grad=True)).sum().backward()
    return str(caught.value)


def report_of(module: ModuleType) -> Report:
    with inplace_magic.watch() as watched, pytest.raises(RuntimeError, match="modified by an inplace operation"):
        module.squash(torch.ones(3, requires_grad=True)).sum().backward()
    assert watched.report is not None
    assert watched.report.faults == []
    return watched.report


def test_of_a_module_edited_and_not_reloaded_no_line_is_quoted_that_did_not_run(
    module: tuple[ModuleType, Path],
) -> None:
    loaded, path = module
    path.write_text(EDITED, encoding="utf-8")
    assert "modified by an inplace operation" in raised_by(loaded)
    report = report_of(loaded)
    (hazard,) = report.hazards
    assert hazard.mutation is not None
    assert hazard.saved is not None
    assert (hazard.mutation.line, hazard.mutation.text, hazard.mutation.outdated) == (7, "", True)
    assert hazard.mutation.place == "line 7 of an older version of edited_module.py"
    assert hazard.mutation.function == "squash"
    assert hazard.diff == ""
    assert hazard.fix.startswith("Load edited_module.py again")
    assert "edited_module.py was changed after it was loaded" in "\n".join(report.blindness)
    for shown in (report.to_text(), report.to_html()):
        assert "SCALE" not in shown
        assert "one more" not in shown
        assert "``" not in shown
        assert "line 7 of an older version of edited_module.py" in shown
    assert Report.from_json(report.to_json()).to_text() == report.to_text()


def test_a_function_that_only_moved_is_quoted_from_where_it_is_now(module: tuple[ModuleType, Path]) -> None:
    loaded, path = module
    path.write_text("# moved\n\n\n" + OLD.replace("    y *= 2\n", "    # a remark\n    y *= 2\n"), encoding="utf-8")
    (hazard,) = report_of(loaded).hazards
    assert hazard.mutation is not None
    assert (hazard.mutation.place, hazard.mutation.text) == ("edited_module.py:11", "y *= 2")
    assert "+    y = y * 2" in hazard.diff


def test_a_module_that_was_reloaded_is_quoted_as_it_is_now(module: tuple[ModuleType, Path]) -> None:
    loaded, path = module
    report_of(loaded)  # Python's cache of lines holds the old text from here on
    path.write_text(EDITED, encoding="utf-8")
    importlib.reload(loaded)
    (hazard,) = report_of(loaded).hazards
    assert hazard.mutation is not None
    assert (hazard.mutation.place, hazard.mutation.text) == ("edited_module.py:13", "y *= 3")


def test_what_pythons_cache_of_lines_still_holds_of_the_older_version_is_quoted(
    module: tuple[ModuleType, Path],
) -> None:
    loaded, path = module
    linecache.getlines(str(path))
    path.write_text(EDITED, encoding="utf-8")
    (hazard,) = report_of(loaded).hazards
    assert hazard.mutation is not None
    assert (hazard.mutation.place, hazard.mutation.text) == ("edited_module.py:7", "y *= 2")


def test_a_script_edited_while_it_runs_is_not_quoted(tmp_path: Path) -> None:
    path = tmp_path / "script.py"
    text = """\
x = torch.ones(3, requires_grad=True)
with inplace_magic.watch() as watched:
    y = torch.sigmoid(x)
    y *= 2
"""
    path.write_text(text.replace("y *= 2", "SCALE = 3").replace("y = torch.sigmoid(x)", "# a remark"), encoding="utf-8")
    names: dict[str, Any] = {"torch": torch, "inplace_magic": inplace_magic}
    exec(compile(text, str(path), "exec"), names)
    (hazard, *_) = names["watched"].report.hazards
    assert (hazard.mutation.place, hazard.mutation.text) == ("line 4 of an older version of script.py", "")
    assert "SCALE" not in names["watched"].report.to_text()


def test_a_script_that_runs_again_under_other_names_is_read_as_it_is_now(tmp_path: Path) -> None:
    path, told = tmp_path / "again.py", []
    text = """\
import torch
ends, old = [], torch.rand(3)
for sequence in range(3):
    kept = old
    for step in range(2):
        kept += 1
    ends.append(kept.sum())
"""
    for source in (text, text.replace("old", "older").replace("kept", "noted")):
        path.write_text(source, encoding="utf-8")
        code = compile(source, str(path), "exec")
        with inplace_magic.watch() as watched:
            exec(code, {"__name__": "__main__"})
        linecache.getlines(str(path))  # as a traceback would have done
        assert watched.report is not None
        told.append([(hazard.code, hazard.variable) for hazard in watched.report.hazards if hazard.is_alarm])
    linecache.cache.pop(str(path), None)
    assert told == [[("initial-value-written", "kept")], [("initial-value-written", "noted")]]


def test_a_second_name_in_the_text_of_an_edited_file_is_no_fact_of_what_ran(module: tuple[ModuleType, Path]) -> None:
    loaded, path = module
    path.write_text(EDITED.replace("    SCALE = 3\n", "    labels = x\n"), encoding="utf-8")
    report = report_of(loaded)
    assert [alias for alias in report.trace.aliases if alias.file == str(path)] == []


def test_without_a_source_lines_are_named_by_their_numbers_and_nothing_is_quoted() -> None:
    """``python -c``, and ``exec`` of a text."""
    text = """\
def squash():
    x = torch.ones(3, requires_grad=True)
    y = torch.sigmoid(x)
    y *= 2
    y.sum().backward()
"""
    names: dict[str, Any] = {"torch": torch}
    exec(text, names)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        names["squash"]()
    names["inplace_magic"] = inplace_magic
    watching = "with inplace_magic.watch() as watched:\n    try: squash()\n    except RuntimeError: pass\n"
    exec(f"{text}\n{watching}", names)
    report = names["watched"].report
    (hazard,) = report.hazards
    assert "line 4 (its source is not there; in `squash`, called from line 8)" in hazard.message
    assert hazard.fix == "Let line 4 give a new tensor instead of writing into the saved one (clone it first)."
    for shown in (report.to_text(), report.to_html(), report.to_svg()):
        assert "``" not in shown
        assert "<code></code>" not in shown
    assert "older version" not in report.to_text()


def test_of_a_module_that_its_loader_rewrites_the_lines_are_quoted() -> None:
    """pytest has compiled this very file from another tree: each ``assert`` is many statements there."""
    w = torch.ones(3, requires_grad=True)
    with inplace_magic.watch() as watched:
        p = torch.sigmoid(w)
        assert p.mul_(2).sum() > 0
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            p.sum().backward()
    assert watched.report is not None
    site = watched.report.hazards[0].mutation
    assert site is not None
    assert (site.text, site.outdated) == ("assert p.mul_(2).sum() > 0", False)
