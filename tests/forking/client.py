"""What stands where a Python does: has a child forked for each start, and is for whoever started it that child.

It hands its arguments, environment, folder and standard streams on, passes signals on, and ends as the child ends; when
it is killed, so is the child. What a child cannot be (another hash seed, other flags of Python than ``-u``) Python
itself becomes, in this process. The text of this file is the stand-in's, with a call of ``main`` below; it runs under
``python -IS``, which begins in a tenth of the time.
"""

from __future__ import annotations

import marshal
import os
import signal
import sys
from typing import NoReturn

KINDS = {"inplace_magic": "watched", "IPython": "shell", "ipykernel_launcher": "shell", "pytest": "pytest"}
FOLLOWED = ("PYTHONPATH", "PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED", "PYTHON_EXEC")
PASSED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2)


def main(sockets: str, python: str, known: dict[str, str]) -> NoReturn:
    """Ends as the program ends.

    Args:
        sockets: the folder with those of the servers.
        python: the real one.
        known: the settings under which the servers began.
    """
    kind = kind_of(sys.argv[1:]) if settings() == known else None
    if kind is None:
        os.execv(python, [python, *sys.argv[1:]])
    status = status_of(f"{sockets}/{kind}", sys.argv[1:])
    if status < 0:
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if -status != signal.SIGKILL:
            signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    os._exit(status)


def settings() -> dict[str, str]:
    """What the environment tells Python at its start, but for what a child can follow."""
    told = {name: value for name, value in os.environ.items() if name.startswith("PYTHON") and value}
    return {name: value for name, value in told.items() if name not in FOLLOWED}


def kind_of(words: list[str]) -> str | None:
    """Which server has most of what the program imports; None where none can fork it. ``FORKED_FROM`` names another."""
    words = words[words[:1] == ["-u"] :]
    if words[:1] == ["-m"] and len(words) > 1:
        return os.environ.get("FORKED_FROM") or KINDS.get(words[1], "plain")
    return "plain" if words and (words[0] in ("-", "-c") or not words[0].startswith("-")) else None


def status_of(server: str, words: list[str]) -> int:
    """Of the child, once it has ended; a negative one is the signal of which it died."""
    import select
    import socket

    with socket.socket(socket.AF_UNIX) as place:
        place.connect(server)
        deaf = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
        heard, hears = os.pipe2(os.O_NONBLOCK)
        signal.set_wakeup_fd(hears)  # a handler in Python could come too late to end the wait for the child
        for number in PASSED_ON:
            signal.signal(number, lambda _number, _frame: None)  # whether it is deaf to it is the program's business
        asked = marshal.dumps((words, dict(os.environ), os.getcwd(), deaf))
        socket.send_fds(place, [len(asked).to_bytes(4, "little")], [0, 1, 2])
        place.sendall(asked)
        while place not in (ready := select.select([place, heard], [], [])[0]):
            numbers = os.read(ready[0], 64)
            try:
                place.sendall(numbers)
            except BrokenPipeError:
                break  # it has just ended
        ended = place.recv(4, socket.MSG_WAITALL)
    return int.from_bytes(ended, "little", signed=True) if len(ended) == 4 else -signal.SIGKILL
