"""Scripts run as ``python program.py`` and ``python -m inplace_magic program.py`` run them, less the import of torch.

A server is a process that has imported torch, and this package where its scripts are to be watched, and nothing of any
program. For each script it forks a child with standard streams of its own, which puts torch out of sight until the
program imports it, runs the program as a real ``__main__``, and ends as Python ends. What is otherwise in a process of
its own stands in ``Forked``; ``benchmarks/ways.py --own-every N`` holds a sample against such processes.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import runpy
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

PLAIN, WATCHED = "plain", "watched"


@dataclass(frozen=True)
class Ended:
    """How a script ended."""

    status: int
    out: str
    err: str


def in_a_process_of_its_own(folder: Path, words: Sequence[str]) -> Ended:
    """Of ``python words…`` in a folder."""
    ran = subprocess.run([sys.executable, *words], cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    return Ended(ran.returncode, ran.stdout, ran.stderr)


class Forked:
    """Runs scripts in children of two processes, one for scripts under ``python -m inplace_magic`` and one for others;
    each begins with the first script of its kind, and both end with the block.

    Other than in a process of its own, modules that torch imports besides its own are there from the beginning, all
    children have the hash seed, the addresses and NumPy's first state in common, and at the end no more is taken down
    than the program's own names.
    """

    def __init__(self) -> None:
        self._servers: dict[str, subprocess.Popen[str]] = {}

    def __enter__(self) -> Forked:
        return self

    def __exit__(self, *_: object) -> None:
        for server in self._servers.values():
            server.communicate()

    def run(self, folder: Path, words: Sequence[str]) -> Ended:
        """Of ``python words…`` in a folder: a file, or ``-m inplace_magic`` and what belongs to it."""
        kind = WATCHED if words[0] == "-m" else PLAIN
        server = self._servers.get(kind)
        if server is None:
            server = self._servers[kind] = subprocess.Popen(
                [sys.executable, __file__, kind], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(json.dumps([str(folder), list(words)]) + "\n")
        server.stdin.flush()
        answer = server.stdout.readline()
        if not answer:
            raise RuntimeError(f"The process that scripts are forked from ended ({server.wait()}).")
        return Ended(**json.loads(answer))


def serve(*, watched: bool) -> None:
    """Answers requests from standard input until it ends; a child ends in it."""
    requests, answers = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1):
        os.dup2(nothing, stream)
    hidden = loaded(watched=watched)
    gc.collect()
    gc.freeze()
    for request in requests:
        folder, words = json.loads(request)
        streams = [os.memfd_create("stream") for _ in range(2)]
        child = os.fork()
        if child == 0:
            code: object = None
            try:
                begin(folder, streams, hidden)
                as_module(words[2:]) if words[0] == "-m" else as_file(words)
            except SystemExit as left:
                code = left.code
            end(code)
        _child, status = os.waitpid(child, 0)
        out, err = (text_of(stream) for stream in streams)
        print(
            json.dumps({"status": os.waitstatus_to_exitcode(status), "out": out, "err": err}), file=answers, flush=True
        )


def text_of(stream: int) -> str:
    """What a child wrote."""
    with os.fdopen(stream, "rb") as written:
        written.seek(0)
        return written.read().decode()


def loaded(*, watched: bool) -> dict[str, ModuleType]:
    """Imports torch, and ours in the order in which the command does; gives the modules that are torch's."""
    if watched:
        import inplace_magic.command_line
    import torch  # noqa: F401

    if watched:  # what the command loads when the program has imported torch, and for its report
        import inplace_magic.capture.session
        import inplace_magic.capture.torch.tracebacks
        import inplace_magic.render.save
        import inplace_magic.render.terminal  # noqa: F401
    return {name: module for name, module in sys.modules.items() if name.split(".")[0] in ("torch", "torchgen")}


def begin(folder: str, streams: list[int], hidden: dict[str, ModuleType]) -> None:
    """Makes a child what a new process is."""
    for stream, number in zip(streams, (1, 2), strict=True):
        os.dup2(stream, number)
    os.chdir(folder)
    sys.path[0] = os.getcwd()
    for name in hidden:
        del sys.modules[name]
    sys.meta_path.insert(0, Unhiding(hidden))
    sys.modules["__main__"] = ModuleType("__main__")


class Unhiding(MetaPathFinder, Loader):
    """Torch as it was imported, for the first import of it."""

    def __init__(self, hidden: dict[str, ModuleType]) -> None:
        self._hidden = hidden
        self._own: Any = hidden["torch"].__spec__

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> ModuleSpec | None:
        """Of torch alone."""
        return ModuleSpec(fullname, self, is_package=True) if fullname == "torch" else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """The module that there is."""
        return self._hidden["torch"]

    def exec_module(self, module: ModuleType) -> None:
        """Puts all of torch back."""
        sys.meta_path.remove(self)
        module.__spec__, module.__loader__ = self._own, self._own.loader
        sys.modules.update(self._hidden)
        sys.modules["__mp_main__"] = sys.modules["__main__"]  # as multiprocessing has it, which torch imports


def as_file(words: list[str]) -> None:
    """Runs ``python words…``."""
    file = os.path.abspath(words[0])
    sys.argv[:] = words
    names = sys.modules["__main__"].__dict__
    names.update(__file__=file, __cached__=None, __annotations__={})
    try:
        exec(compile(Path(file).read_bytes(), file, "exec", dont_inherit=True), names)
    except SystemExit:
        raise
    except BaseException as error:
        ours = error.__traceback__
        assert ours is not None
        sys.excepthook(type(error), error.with_traceback(ours.tb_next), ours.tb_next)
        sys.exit(1)


def as_module(words: list[str]) -> None:
    """Runs ``python -m inplace_magic words…``, by the function that does it in Python."""
    sys.argv[:] = ["-m", *words]
    run: Any = vars(runpy)["_run_module_as_main"]
    run("inplace_magic")


def end(code: object) -> NoReturn:
    """Ends as Python does, until the program's own names are gone: to take torch down takes longer than these."""
    if code is not None and not isinstance(code, int):
        print(code, file=sys.stderr)
    vars(threading)["_shutdown"]()
    vars(atexit)["_run_exitfuncs"]()
    names = sys.modules["__main__"].__dict__
    names.update((name, None) for name in list(names) if name != "__builtins__")
    gc.collect()
    for stream in (sys.stdout, sys.stderr):
        if stream is not None and not stream.closed:
            stream.flush()
    os._exit((code if isinstance(code, int) else code is not None) & 0xFF)


if __name__ == "__main__":
    serve(watched=sys.argv[1] == WATCHED)
