"""Programs in forks of one process that was begun with a small stack: a thread's stack, too, is as large as the limit
was when the process began."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass

FORKS = """
import gc, json, os, sys, tempfile, traceback, torch, inplace_magic.capture.session
gc.freeze()
for source, level in json.load(sys.stdin):
    said = [tempfile.TemporaryFile() for _ in range(2)]
    child = os.fork()
    if not child:
        for number, file in enumerate(said, 1):
            os.dup2(file.fileno(), number)
        code = 1
        try:
            exec(source, {"__name__": "__main__", "level": level})
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    for file in said:
        file.seek(0)
    print(json.dumps([code, *(file.read().decode() for file in said)]), flush=True)
"""
SMALL = 2 << 20
"""Bytes."""


@dataclass(frozen=True)
class Ran:
    """How a program ended, and what it wrote."""

    returncode: int
    stdout: str
    stderr: str


def run(programs: Sequence[tuple[str, str]]) -> list[Ran]:
    """Programs, each with a level, which is a name in it."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_STACK, (SMALL, resource.getrlimit(resource.RLIMIT_STACK)[1]))

    given = json.dumps(programs)
    done = subprocess.run(
        [sys.executable, "-c", FORKS], input=given, capture_output=True, text=True, check=False, preexec_fn=limit
    )
    assert done.returncode == 0, done.stderr
    return [Ran(*json.loads(line)) for line in done.stdout.splitlines()]
