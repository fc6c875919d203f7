"""A Python whose programs are forked from one that has imported torch, which takes two seconds of every other start.

For tests whose promise is not about how a process starts: what is imported when, hash seeds, how an interpreter ends.
"""

from __future__ import annotations

import atexit
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

from forking import client

HERE = Path(__file__).resolve().parent
LONGEST = 200
"""Characters of a first line that says what a file is run by."""


@cache
def python() -> str:
    """The path of the stand-in, which is there until this process ends; of the real one where none can be had.

    ``[python(), *words]`` does what ``[sys.executable, *words]`` does. But what torch imports of the standard library
    is there from the beginning, all children have one hash seed and NumPy's first state in common, each has a session
    of its own, and at the end no more is taken down than the program's own names.
    """
    if sys.platform != "linux" or len(sys.executable) > LONGEST or " " in sys.executable:
        return sys.executable
    folder = Path(tempfile.mkdtemp(prefix="forking"))
    server = subprocess.Popen(
        [sys.executable, str(HERE / "server.py"), str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    atexit.register(_end, server, folder)
    assert server.stdout is not None
    if not server.stdout.read(1):
        raise RuntimeError(f"The process that programs are forked from ended ({server.wait()}).")
    given = str(folder), sys.executable, client.settings()
    text = Path(client.__file__).read_text(encoding="utf-8")
    stand_in = folder / "python"
    stand_in.write_text(f"#!{sys.executable} -IS\n{text}\n\nmain{given!r}\n", encoding="utf-8")
    stand_in.chmod(0o700)
    return str(stand_in)


def _end(server: subprocess.Popen[bytes], folder: Path) -> None:
    server.communicate()
    shutil.rmtree(folder, ignore_errors=True)
