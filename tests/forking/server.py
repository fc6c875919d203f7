"""The processes that programs are forked from: ``python server.py FOLDER``, until standard input ends.

The first has imported torch and nothing of any program. A process is forked from it for each kind of program, when the
first of that kind comes to its socket in the folder; that one imports what else such programs import, and forks a child
for each of them. When standard input ends, all end.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import marshal
import os
import select
import signal
import socket
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from child import Start, run
from hidden import Hidden, top

OURS = (
    "inplace_magic.cli.command_line",
    "inplace_magic.capture.session",
    "inplace_magic.capture.torch.tracebacks",
    "inplace_magic.render.save",
    "inplace_magic.render.terminal",
)
PYTEST = ("pytest", "_pytest.pytester", "_pytest.junitxml")
DATABASES = (
    *("common_methods_invocations", "common_modules", "common_optimizers", "custom_op_db", "autograd_function_db"),
    *("hop_db", "composite_compliance", "optests"),
)
IN_SIGHT: dict[str, tuple[str, ...]] = {
    "plain": (),
    "watched": OURS,
    "shell": ("ipykernel.ipkernel", "ipykernel.kernelapp", "IPython.terminal.ipapp"),
    "pytest": PYTEST,
    "torch.distributed": ("torch.distributed.run", "torch.distributed.fsdp", "torch.nn.parallel"),
    "torch.testing": (*PYTEST, *(f"torch.testing._internal.{name}" for name in DATABASES)),
}
"""Kind of program -> what has been imported for it and is there from the beginning."""


def serve(folder: str) -> None:
    """Begins a process for each kind."""
    doors = {}
    for kind in IN_SIGHT:
        door = socket.socket(socket.AF_UNIX)
        door.bind(f"{folder}/{kind}")
        door.listen(64)
        doors[door] = kind
    torch = loaded("torch", ["torch"])
    settle()
    os.write(1, b".")
    while True:
        ready, _, _ = select.select([0, *doors], [], [])
        if 0 in ready:
            break
        for door in ready:
            kind = doors.pop(door)
            if os.fork() == 0:
                for other in doors:
                    other.close()
                return Forking(door, kind, torch).serve()
            door.close()
    with contextlib.suppress(ChildProcessError):
        while True:
            os.wait()


def loaded(library: str, names: Iterable[str]) -> Hidden:
    """A library and what it imports besides the standard library."""
    before = set(sys.modules)
    for name in names:
        importlib.import_module(name)
    return Hidden(library, (name for name in set(sys.modules) - before if top(name) not in sys.stdlib_module_names))


def rewrite_no_assertions_of(package: str) -> None:
    """Of a package that brings a plugin pytest rewrites all modules, which takes longer than most runs."""
    hook: Any = importlib.import_module("_pytest.assertion.rewrite").AssertionRewritingHook
    find = hook.find_spec

    def find_spec(self: Any, name: str, *rest: Any) -> Any:
        return None if top(name) == package else find(self, name, *rest)

    hook.find_spec = find_spec


def settle() -> None:
    """Leaves what is there out of all rounds of garbage collection to come."""
    gc.collect()
    gc.freeze()


@dataclass(frozen=True)
class Running:
    """A child, what tells that it ended, and who waits for it."""

    child: int
    ended: int
    client: socket.socket

    def kill(self) -> None:
        """The child and what it started, unless that has a session of its own."""
        for kill in (os.killpg, os.kill):
            with contextlib.suppress(ProcessLookupError):
                kill(self.child, signal.SIGKILL)


class Forking:
    """Forks the programs of one kind."""

    def __init__(self, door: socket.socket, kind: str, torch: Hidden) -> None:
        self._door = door
        self._running: dict[int, Running] = {}
        os.environ.setdefault(
            "JPY_PARENT_PID", "1"
        )  # ipykernel reads at import who its parent is, and of 1 expects nothing
        seen = loaded(kind, IN_SIGHT[kind])
        ours = loaded("inplace_magic", OURS)
        if "pytest" in seen.modules:
            rewrite_no_assertions_of("inplace_magic")
        torch.take_in(seen, ours)
        ours.hide()
        self._ours = ours
        torch.hide()
        settle()

    def serve(self) -> None:
        """Until standard input ends."""
        while True:
            ready, _, _ = select.select([0, self._door, *self._running], [], [])
            if 0 in ready:
                break
            for each in ready:
                if each is self._door:
                    self._begin(self._door.accept()[0])
                elif each in self._running:
                    self._attend(self._running[each], each)
        for running in set(self._running.values()):
            running.kill()

    def _begin(self, client: socket.socket) -> None:
        size, streams, _, _ = socket.recv_fds(client, 4, 3)
        asked = bytearray()
        while len(asked) < int.from_bytes(size, "little"):
            asked += client.recv(1 << 20)
        start = Start(*marshal.loads(asked))
        child = os.fork()
        if child == 0:
            self._ours.give_way(filter(None, start.environment.get("PYTHONPATH", "").split(os.pathsep)))
            run(start, streams)
        for stream in streams:
            os.close(stream)
        running = Running(child, os.pidfd_open(child), client)
        self._running.update(dict.fromkeys((running.ended, client.fileno()), running))

    def _attend(self, running: Running, sign: int) -> None:
        if sign == running.ended:
            _, status = os.waitpid(running.child, 0)
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                running.client.sendall(os.waitstatus_to_exitcode(status).to_bytes(4, "little", signed=True))
            for each in (running.ended, running.client.fileno()):
                self._running.pop(each, None)
            os.close(running.ended)
            running.client.close()
        elif numbers := running.client.recv(16):
            for number in numbers:
                os.kill(running.child, number)
        else:
            del self._running[sign]
            running.kill()


if __name__ == "__main__":
    serve(sys.argv[1])
