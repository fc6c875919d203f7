"""What ``pip install --target`` put into a folder is a library there, and the user's own files beside it are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from inplace_magic.capture.frames import belongs_to_user, installed_into, library_folders


def _install(folder: Path, name: str, *files: str, installer: bool = True, told: str = "") -> None:
    """As pip does: the files, and a ``.dist-info`` that lists them."""
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir(parents=True)
    for file in files:
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text("")
    lines = [*files, f"{info.name}/RECORD", "../../bin/tool.py"]
    (info / "RECORD").write_text("".join(f"{line},sha256=x,0\n" for line in lines))
    if installer:
        (info / "INSTALLER").write_text("pip\n")
    if told:
        (info / "direct_url.json").write_text(told)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    installed_into.cache_clear()
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def _is_users(file: Path) -> bool:
    return belongs_to_user(str(file), library_folders())


def test_what_was_installed_into_a_folder_of_the_path_is_a_library(folder: Path) -> None:
    _install(folder, "einsums", "einsums/__init__.py", "einsums/deep/layer.py", "single.py", "einsums/_c.so")
    assert not _is_users(folder / "einsums" / "__init__.py")
    assert not _is_users(folder / "einsums" / "deep" / "layer.py")
    assert not _is_users(folder / "single.py")


def test_the_users_files_beside_it_stay_theirs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As where somebody ran ``pip install --target .`` in a project, whose ``tests`` a library brings some of, too."""
    (folder / "tests").mkdir()
    (folder / "tests" / "test_mine.py").write_text("")
    _install(folder, "einsums", "einsums/__init__.py", "tests/test_theirs.py")
    monkeypatch.chdir(folder)
    for mine in ("train.py", "tests/test_mine.py", "mine/model.py", "einsums_of_mine.py"):
        assert _is_users(folder / mine), mine
    assert not _is_users(folder / "einsums" / "__init__.py")


@pytest.mark.parametrize(
    ("installer", "told"), [(False, ""), (True, '{"url": "file:///mine", "dir_info": {"editable": true}}')]
)
def test_a_project_that_holds_what_was_built_of_itself_is_the_users(folder: Path, installer: bool, told: str) -> None:
    _install(folder, "mine", "mine/__init__.py", installer=installer, told=told)
    assert _is_users(folder / "mine" / "__init__.py")


@pytest.mark.parametrize("record", [None, b"\xff\xfe", b""])
def test_a_record_that_cannot_be_read_names_no_library(folder: Path, record: bytes | None) -> None:
    _install(folder, "mine", "mine/__init__.py")
    file = folder / "mine-1.0.dist-info" / "RECORD"
    file.unlink() if record is None else file.write_bytes(record)
    assert _is_users(folder / "mine" / "__init__.py")
