"""A fix is tried in scripts, functions and module files, and told from saved reports in both languages."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import pytest
from cells import run_cell
from proving.trying import BROKEN, SILENT, first, proof_of, watched

from inplace_magic import Report
from inplace_magic.rerun import guard


def test_with_watch_in_a_script_and_in_a_function(tmp_path: Path) -> None:
    head = "import torch, inplace_magic\nx = torch.ones(3, requires_grad=True)\n"
    block = "    y = torch.sigmoid(x)\n    y.mul_(2)\n    y.sum().backward()\n"
    plain = (
        f"{head}try:\n  with inplace_magic.watch() as w:\n{block}except RuntimeError: pass\ntried = w.report.prove()\n"
    )
    inner = "".join(f"    {line}\n" for line in plain.splitlines()[1:])
    names = executed(tmp_path / "plain.py", plain)
    called = executed(
        tmp_path / "called.py", f"{head}def main():\n{inner}    return w.report, tried\nw, tried = main()\n"
    )

    assert first(names["tried"]).proof.verdict == "proven"
    assert first(called["tried"]).proof.verdict == "proven"
    assert names["x"].grad is None
    gone = first(called["w"].prove()).proof
    assert (gone.verdict, "`main` has returned" in gone.reason) == ("not tried", True)


def executed(path: Path, source: str) -> dict[str, Any]:
    path.write_text(source, encoding="utf-8")
    names: dict[str, Any] = {"__name__": path.stem}
    exec(compile(source, str(path), "exec"), names)
    return names


def test_a_fix_in_a_module_file_is_tried_without_touching_the_file(
    ip: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "gating_in_a_file.py"
    source = "import torch\n\n\ndef gated(x):\n    gate = torch.sigmoid(x)\n    gate[0] = 0.0\n    return gate\n"
    path.write_text(source, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    run_cell(ip, "import gating_in_a_file")
    module = sys.modules["gating_in_a_file"]
    code = module.gated.__code__

    tried = watched(ip, "gating_in_a_file.gated(x).sum().backward()", "--prove")

    assert first(tried).diff.startswith("@@ gating_in_a_file.py:6 @@")
    assert first(tried).proof.verdict == "proven"  # type: ignore[union-attr]
    assert module.gated.__code__ is code
    assert path.read_text(encoding="utf-8") == source
    importlib.invalidate_caches()
    del sys.modules["gating_in_a_file"]


def test_a_report_from_a_file_says_why_nothing_is_tried_and_a_saved_proof_opens(ip: Any) -> None:
    tried = watched(ip, BROKEN).prove()

    opened = Report.from_json(tried.to_json())

    assert opened.hazards == tried.hazards
    assert tried.to_dict()["hazards"][0]["proof"]["verdict"] == "proven"
    again = first(opened.prove()).proof
    assert again is not None
    assert (again.verdict, "not in this process" in again.reason) == ("not tried", True)


def test_a_proof_is_told_in_the_other_language_too(ip: Any) -> None:
    tried = watched(ip, SILENT).prove()
    chinese = tried.in_language("zh")

    (one,), (other,) = ([h.proof for h in report.hazards if h.proof] for report in (tried, chinese))
    assert one.verdict == other.verdict
    assert one.reason != other.reason
    assert "x" in other.reason
    assert chinese.in_language("en").hazards == tried.hazards


def test_a_library_is_loaded_to_its_end_whatever_it_does_then(
    ip: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that was stopped halfway could not be imported again in this session."""
    (tmp_path / "that_writes.py").write_text(f"open({str(tmp_path / 'made')!r}, 'w').close()\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    report = watched(ip, BROKEN + "import that_writes\n")
    assert "it changes the file" in proof_of(report).reason

    monkeypatch.setattr(guard, "library_folders", lambda: (str(tmp_path),))

    assert proof_of(report).verdict == "proven"
    sys.modules.pop("that_writes")


READ_AGAIN = ("exec(compile(open(path).read(), path, 'exec'))", "%run {path}", "import runpy; runpy.run_path(path)")


@pytest.mark.parametrize("line", READ_AGAIN)
def test_a_program_that_a_cell_reads_and_runs_is_run_with_the_fix(ip: Any, tmp_path: Path, line: str) -> None:
    path = tmp_path / "program_of_its_own.py"
    source = f"import torch\nx = torch.ones(3, requires_grad=True)\n{BROKEN}"
    path.write_text(source, encoding="utf-8")
    ip.user_ns["path"] = str(path)

    tried = first(watched(ip, line.format(path=path)).prove())

    assert tried.diff.startswith("@@ program_of_its_own.py:4 @@\n-y.mul_(2)")
    assert tried.proof is not None
    assert tried.proof.verdict == "proven"
    assert path.read_text(encoding="utf-8") == source
    assert compile.__module__ == "builtins", "it is put back"
    assert type(compile).__name__ == "builtin_function_or_method"


def test_a_program_without_a_file_is_not_called_refuted(ip: Any, tmp_path: Path) -> None:
    (tmp_path / "nameless.py").write_text(f"import torch\nx = torch.ones(3, requires_grad=True)\n{BROKEN}")
    proof = proof_of(watched(ip, f"exec(open({str(tmp_path / 'nameless.py')!r}).read())"))
    assert proof.verdict == "not tried"


def test_where_the_program_itself_expects_the_error_that_is_said(ip: Any) -> None:
    """The exception of `pytest.raises` is none that `except Exception` catches."""
    cell = "import pytest\ny = torch.sigmoid(x)\ny.mul_(2)\nwith pytest.raises(RuntimeError):\n    y.sum().backward()"
    proof = proof_of(watched(ip, cell))
    assert proof.verdict == "not tried"
    assert "A check of the program's own ended it: Failed: DID NOT RAISE" in proof.reason
