"""A child that becomes ``python words…``: a file, ``-m module``, ``-c text`` or ``-``."""

from __future__ import annotations

import atexit
import gc
import io
import os
import runpy
import signal
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

LIBRARIES = [place for place in sys.path[1:] if place not in os.environ.get("PYTHONPATH", "").split(os.pathsep)]
"""Where Python looks behind the folder of the program and ``PYTHONPATH``."""
INTERRUPTED = object()


@dataclass(frozen=True)
class Start:
    """How a program is started."""

    words: list[str]
    environment: dict[str, str]
    folder: str
    deaf: bool
    """To an interrupt, as a job in the background is born."""


def run(start: Start, streams: Sequence[int]) -> NoReturn:
    """Runs the program, and ends as Python does."""
    flagged = start.words[0] == "-u"
    words = start.words[flagged:]
    unbuffered = flagged or bool(start.environment.get("PYTHONUNBUFFERED"))
    code: object = None
    try:
        surround(start, streams, unbuffered=unbuffered)
        {"-m": as_module, "-c": as_text, "-": as_typed}.get(words[0], as_file)(words)
    except SystemExit as left:
        code = left.code
    except BaseException as error:
        code = shown(error)
    finally:
        end(code)


def surround(start: Start, streams: Sequence[int], *, unbuffered: bool) -> None:
    """Makes a child what a new process is."""
    os.setsid()
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    os.closerange(3, os.sysconf("SC_OPEN_MAX") if hasattr(os, "sysconf") else 256)
    os.chdir(start.folder)
    os.environ.clear()
    os.environ.update(start.environment)
    signal.signal(signal.SIGINT, signal.SIG_IGN if start.deaf else signal.default_int_handler)
    sys.path[:] = ["", *filter(None, start.environment.get("PYTHONPATH", "").split(os.pathsep)), *LIBRARIES]
    sys.dont_write_bytecode = bool(start.environment.get("PYTHONDONTWRITEBYTECODE"))
    sys.orig_argv[1:] = start.words
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        stream = stream_of(number, f"<{name}>", unbuffered=unbuffered)
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    sys.modules["__main__"] = ModuleType("__main__")
    vars(sys.modules["__main__"])["__annotations__"] = {}


def stream_of(number: int, name: str, *, unbuffered: bool) -> Any:
    """What Python makes of a standard stream."""
    raw: Any = io.FileIO(number, "rb" if number == 0 else "wb", closefd=False)
    raw.name = name
    stream: Any
    if number == 0:
        stream = io.TextIOWrapper(io.BufferedReader(raw), encoding="utf-8")
    else:
        stream = io.TextIOWrapper(
            io.BufferedWriter(raw),
            encoding="utf-8",
            errors="backslashreplace" if number == 2 else "strict",
            newline="\n",
            line_buffering=number == 2 or raw.isatty(),
            write_through=unbuffered,
        )
    stream.mode = "r" if number == 0 else "w"
    return stream


def as_file(words: list[str]) -> None:
    """Runs ``python program.py …``."""
    file = os.path.abspath(words[0])
    sys.path[0] = os.path.dirname(os.path.realpath(file) if os.path.islink(file) else file)
    _executed(words, Path(file).read_bytes(), file, __file__=file, __cached__=None)


def as_text(words: list[str]) -> None:
    """Runs ``python -c text …``."""
    _executed(["-c", *words[2:]], words[1], "<string>")


def as_typed(words: list[str]) -> None:
    """Runs ``python -``."""
    _executed(words, sys.stdin.read(), "<stdin>", __file__="<stdin>", __cached__=None)


def as_module(words: list[str]) -> None:
    """Runs ``python -m module …``, by the function that does it in Python."""
    sys.path[0] = os.getcwd()
    sys.argv[:] = ["-m", *words[2:]]
    run: Any = vars(runpy)["_run_module_as_main"]
    run(words[1])


def _executed(words: list[str], text: str | bytes, name: str, **names: object) -> None:
    sys.argv[:] = words
    main = sys.modules["__main__"].__dict__
    main.update(names)
    exec(compile(text, name, "exec", dont_inherit=True), main)


def shown(error: BaseException) -> object:
    """Has an error shown as Python shows it; gives the exit status."""
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_frame.f_code.co_filename == __file__:
        traceback = traceback.tb_next
    sys.excepthook(type(error), error.with_traceback(traceback), traceback)
    return INTERRUPTED if isinstance(error, KeyboardInterrupt) else 1


def end(code: object) -> NoReturn:
    """Ends as Python does, until the program's own names are gone: to take torch down takes longer than these."""
    try:
        if not (code is None or code is INTERRUPTED or isinstance(code, int)):
            print(code, file=sys.stderr)
        vars(threading)["_shutdown"]()
        vars(atexit)["_run_exitfuncs"]()
        names = sys.modules["__main__"].__dict__
        names.update((name, None) for name in list(names) if name != "__builtins__")
        gc.collect()
        for stream in (sys.stdout, sys.stderr):
            if stream is not None and not stream.closed:
                stream.flush()
        if code is INTERRUPTED:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            os.kill(os.getpid(), signal.SIGINT)
    finally:
        os._exit((code if isinstance(code, int) else code is not None) & 0xFF)
