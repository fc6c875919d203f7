"""Programs in processes of their own, as a user starts them, but forked."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from forking.starting import python

import inplace_magic

UNDER_US = ("-m", "inplace_magic")


def settings(folder: Path) -> dict[str, str]:
    """The environment of a process: this checkout's package, a new profile of IPython, no colours."""
    return {
        **os.environ,
        "IPYTHONDIR": str(folder / "ipython"),
        "NO_COLOR": "1",
        "PYTHONPATH": str(Path(inplace_magic.__file__).parent.parent),
    }


def ran(folder: Path, *words: str, program: str = "", typed: str = "") -> subprocess.CompletedProcess[str]:
    """Of ``python …`` in a folder.

    Args:
        folder: where to.
        words: what stands behind ``python``.
        program: the text of ``program.py`` and ``program.ipy`` there.
        typed: standard input.
    """
    for ending in ("py", "ipy") if program else ():
        (folder / f"program.{ending}").write_text(program, encoding="utf-8")
    return subprocess.run(
        [python(), *words],
        input=typed,
        capture_output=True,
        text=True,
        cwd=folder,
        env=settings(folder),
        timeout=300,
        check=False,
    )


def told(folder: Path, program: str, *arguments: str) -> tuple[subprocess.CompletedProcess[str], str]:
    """Runs a script plainly and watched: the plain run, and what the watch said after it on standard error. All else,
    but for the frames of a library that waited another way, is the same."""
    plain = ran(folder, "program.py", *arguments, program=program)
    watched = ran(folder, *UNDER_US, "program.py", *arguments)
    assert (watched.returncode, watched.stdout) == (plain.returncode, plain.stdout)
    last = plain.stderr.rstrip("\n").rpartition("\n")[2]
    assert last in watched.stderr
    return plain, watched.stderr.rpartition(last)[2] if last else watched.stderr
