"""Files and the world outside: a saved report never costs an older file; nothing opens a connection, or runs code from
a report."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
from builders import sigmoid_report

from inplace_magic.errors import InplaceMagicError
from inplace_magic.record.options import SAVE_SUFFIXES
from inplace_magic.render.save import save
from inplace_magic.report import Report

POSIX = pytest.mark.skipif(os.name != "posix", reason="needs POSIX file permissions and limits")


@pytest.mark.parametrize("failure", [OSError(28, "No space left on device"), KeyboardInterrupt(), MemoryError()])
@pytest.mark.parametrize("step", ["fsync", "chmod", "replace"])
def test_whatever_fails_while_saving_the_old_file_is_whole_and_nothing_else_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, failure: BaseException
) -> None:
    path = tmp_path / "report.json"
    path.write_text("old")

    def fail(*_: object) -> None:
        raise failure

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(InplaceMagicError if isinstance(failure, OSError) else type(failure)):
        save(sigmoid_report(), path)

    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["report.json"]


SAVED = """
    import json, os, resource, signal, sys
    from builders import sigmoid_report
    from inplace_magic.errors import InplaceMagicError
    from inplace_magic.render.save import save

    def limited(path, limit):
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        try:
            save(sigmoid_report(), path)
        except InplaceMagicError as error:
            return 0 if "was not saved" in str(error) else 2
        return 3

    def killed(path, _):
        os.fsync = lambda _: os.kill(os.getpid(), signal.SIGKILL)
        save(sigmoid_report(), path)
        return 3

    ends = []
    for path, limit in PATHS:
        child = os.fork()
        if not child:
            os._exit((killed if limit is None else limited)(path, limit))
        ends.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    print(json.dumps(ends))
"""
LIMITS = (0, 1, 1000, None)
"""Bytes that a file may have; None for a process that is killed."""


@pytest.fixture(scope="module")
def ends(tmp_path_factory: pytest.TempPathFactory) -> dict[int | None, tuple[int, Path]]:
    """How each of some processes ended that were saving a report, forks of one that has imported all it takes, and the
    folder of the report."""
    folders = [tmp_path_factory.mktemp("saved") for _ in LIMITS]
    for folder in folders:
        (folder / "report.json").write_text("old")
    paths = [(str(folder / "report.json"), limit) for folder, limit in zip(folders, LIMITS, strict=True)]
    ran = in_a_process(f"    PATHS = {paths!r}\n{SAVED}")
    assert ran.returncode == 0, ran.stderr
    return dict(zip(LIMITS, zip(json.loads(ran.stdout), folders, strict=True), strict=True))


@POSIX
@pytest.mark.parametrize("limit", [0, 1, 1000])
def test_a_disk_that_is_full_in_the_middle_of_the_file_costs_nothing(ends: Any, limit: int) -> None:
    code, folder = ends[limit]

    assert code == 0
    assert (folder / "report.json").read_text() == "old"
    assert os.listdir(folder) == ["report.json"]


@POSIX
def test_a_process_that_is_killed_while_writing_leaves_the_old_file_whole(ends: Any) -> None:
    code, folder = ends[None]

    assert code == -9
    assert (folder / "report.json").read_text() == "old"


@pytest.mark.parametrize("suffix", SAVE_SUFFIXES)
def test_a_folder_in_the_place_of_the_file_is_one_clear_error(tmp_path: Path, suffix: str) -> None:
    folder = tmp_path / f"report{suffix}"
    folder.mkdir()
    (folder / "kept").write_text("old")

    with pytest.raises(InplaceMagicError, match="is a folder"):
        save(sigmoid_report(), folder)

    assert os.listdir(tmp_path) == [folder.name]
    assert (folder / "kept").read_text() == "old"


@POSIX
def test_a_file_marked_read_only_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "report.dot"
    path.write_text("old")
    path.chmod(0o444)

    with pytest.raises(InplaceMagicError, match="marked read-only"):
        save(sigmoid_report(), path)

    assert path.read_text() == "old"
    assert path.stat().st_mode & 0o777 == 0o444
    assert os.listdir(tmp_path) == ["report.dot"]


@POSIX
def test_a_link_stays_a_link_and_the_file_behind_it_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    target, link = tmp_path / "there" / "shared.json", tmp_path / "report.json"
    target.write_text("old")
    link.symlink_to(target)

    assert save(sigmoid_report(), link) == link

    assert link.is_symlink()
    assert Report.from_json(target.read_text(encoding="utf-8")) == sigmoid_report()
    assert os.listdir(tmp_path / "there") == ["shared.json"]


@POSIX
def test_a_link_into_nowhere_makes_the_file_and_a_link_to_itself_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "new.json").symlink_to(tmp_path / "made.json")
    (tmp_path / "loop.json").symlink_to(tmp_path / "loop.json")

    save(sigmoid_report(), tmp_path / "new.json")
    with pytest.raises(InplaceMagicError, match="was not saved"):
        save(sigmoid_report(), tmp_path / "loop.json")

    assert sorted(os.listdir(tmp_path)) == ["loop.json", "made.json", "new.json"]
    assert (tmp_path / "loop.json").is_symlink()


@pytest.mark.parametrize("name", ["a\0b.json", "half \ud800 a pair.json", "x" * 300 + ".json", "no/such/folder.json"])
def test_a_name_that_no_file_can_have_is_one_clear_error(tmp_path: Path, name: str) -> None:
    if name.isascii() is False and sys.getfilesystemencodeerrors() == "surrogatepass":
        pytest.skip("this system has such names")

    with pytest.raises(InplaceMagicError, match="was not saved"):
        save(sigmoid_report(), tmp_path / name)

    assert os.listdir(tmp_path) == []


@POSIX
def test_a_name_as_long_as_names_may_be_is_saved(tmp_path: Path) -> None:
    assert save(sigmoid_report(), tmp_path / ("x" * 250 + ".json")).stat().st_size > 0


AUDITED = """
    import sys

    seen = []
    CONNECTS = ("socket.", "urllib.", "http.", "ftplib.", "smtplib.", "webbrowser.", "ssl.")
    sys.addaudithook(lambda event, _: seen.append(event) if event.startswith(CONNECTS) else None)

    import inplace_magic
    import torch
    from inplace_magic.render.save import WRITERS, save
    from inplace_magic.report import Report

    with inplace_magic.watch(level="ops") as w:
        x = torch.rand(3, requires_grad=True)
        y = torch.sigmoid(x)
        y.mul_(2)
        try:
            y.sum().backward()
        except RuntimeError:
            pass
    report = Report.from_json(w.report.to_json())
    report._repr_mimebundle_(), report.to_html(), report.to_svg(), report.to_text(), report.to_frame("calls")
    for suffix in WRITERS:
        save(report, FOLDER + "/report" + suffix)
    assert report.hazards
    print(sorted(set(seen)))
"""


def test_no_connection_is_opened_by_import_watch_rendering_or_saving(tmp_path: Path) -> None:
    ran = in_a_process(f"    FOLDER = {str(tmp_path)!r}\n{AUDITED}")

    assert (ran.returncode, ran.stdout.strip()) == (0, "[]"), ran.stderr


def test_opening_a_report_imports_evaluates_and_unpickles_nothing(tmp_path: Path) -> None:
    program = """
        import sys
        from no_harm.hostile import SCRIPTS, full_report, infected
        from inplace_magic.report import Report

        texts = [full_report().to_json()]
        for script in (*SCRIPTS, "__import__('os').system('false')", "cos\\nsystem\\n(S'false'\\ntR."):
            report = full_report()
            texts.append(Report(infected(report.trace, script), infected(report.findings, script)).to_json())
        Report.from_json(texts[0])  # whatever is imported at first use is imported now
        seen = []
        sys.addaudithook(lambda event, arguments: seen.append((event, arguments)))
        for text in texts:
            Report.from_json(text)
        print([event for event, _ in seen if event not in ("object.__getattr__", "sys._getframe")])
    """

    ran = in_a_process(program)

    assert (ran.returncode, ran.stdout.strip()) == (0, "[]"), ran.stderr


def in_a_process(program: str) -> Any:
    """Runs a program in a Python of its own, where limits and audit hooks stay."""
    tests = Path(__file__).resolve().parents[1]
    paths = os.pathsep.join([str(tests), str(tests.parent)])
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "PYTHONPATH": paths},
    )
