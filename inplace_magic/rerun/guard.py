"""A second run without effects outside the process: it writes no file, starts no process, opens no connection.

Python's audit events (https://docs.python.org/3/library/audit_events.html) announce such acts. A second run that is
about to write ``log.txt`` is stopped there, by an exception that no ``except Exception`` of the program catches; until
then it has changed only copies. An audit hook cannot be removed, and Python calls it for each ``id(x)``: it is added
with the first second run, and outside of one it is a C function that does nothing.

Writes by C++ code are not seen, except ``torch.save``, which this module handles.
"""

from __future__ import annotations

import builtins
import logging
import operator
import os
import sys
import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from traceback import walk_stack
from typing import Any

import torch

from inplace_magic.capture.frames import library_folders
from inplace_magic.language import _
from inplace_magic.rerun.settings import attributes_set

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_NEVER_ASKED = ("__pycache__", "torchinductor", "triton")
"""In paths of caches, which are written whenever something is imported or compiled."""
_EVENTS = {
    **dict.fromkeys(("os.remove", "os.rmdir", "os.mkdir", "os.truncate", "os.utime", "os.chmod", "os.chown"), "file"),
    **dict.fromkeys(("os.rename", "os.link", "os.symlink", "shutil.rmtree", "shutil.copyfile", "shutil.move"), "file"),
    **dict.fromkeys(("os.chdir", "sqlite3.connect", "tempfile.mkstemp", "tempfile.mkdtemp"), "file"),
    **dict.fromkeys(("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.startfile", "pty.spawn"), "run"),
    **dict.fromkeys(("os.fork", "os.forkpty"), "run"),
    **dict.fromkeys(("socket.connect", "socket.bind", "socket.sendto", "urllib.Request"), "net"),
    **dict.fromkeys(("ftplib.connect", "smtplib.connect", "http.client.connect"), "net"),
    "builtins.input": "input",
}
"""Audit events that change something outside the process, and their sentences."""

_HEARD = frozenset((*_EVENTS, "open"))


class Repeated(BaseException):
    """A second run was about to act outside the copies.

    Args:
        sentence: the act, to follow "Cell In[7] did not run to its end again: ".
    """

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence


@dataclass(slots=True)
class _Watchman:
    """What one run would do outside of the process: stopped, or only noted."""

    allowed: bool
    met: list[Repeated] = field(default_factory=list)


class _Running(threading.local):
    watchman: _Watchman | None = None
    done: Counter[str] | None = None


_running = _Running()
_one_at_a_time = threading.Lock()
_hook: Any = partial(operator.is_)
"""What Python tells its audit events; to be told what to do with them is how a ``partial`` is unpickled."""
_added = False
_runs = 0
"""How many are running, of all threads."""


@contextmanager
def done_again() -> Iterator[Counter[str]]:
    """While the block runs, what allowed runs on this thread do to files, processes and the network is counted."""
    done = Counter[str]()
    with attributes_set(_running, done=done):
        yield done


@contextmanager
def harmless(*, allowed: bool = False) -> Iterator[None]:
    """In this block, on this thread, writing files, starting processes and using the network raise :class:`Repeated`.
    Figures, ``os.environ`` and log handlers are restored at its end.

    Args:
        allowed: the user has allowed it.

    Raises:
        Repeated: also if the program caught the exception.
    """
    watchman = _Watchman(allowed)
    save = _stand_in("file", torch.save, lambda args: args[1] if len(args) > 1 else "")
    asked = _stand_in("input", builtins.input, lambda args: "")
    figures = getattr(sys.modules.get("matplotlib._pylab_helpers"), "Gcf", None)
    with (
        attributes_set(figures, figs=OrderedDict()) if figures is not None else nullcontext(),
        _environment(),
        # Handlers of ``logging`` keep their stream, and a write to an open file is no audit event.
        attributes_set(logging.root.manager, disable=logging.CRITICAL),
        _heard(),
        attributes_set(_running, watchman=watchman),
        attributes_set(torch, save=save),
        attributes_set(builtins, input=asked),
    ):
        yield
    if watchman.met:
        raise watchman.met[0]


@contextmanager
def _heard() -> Iterator[None]:
    """While the block runs, audit events come to :func:`_audited`."""
    _count(1)
    try:
        yield
    finally:
        _count(-1)


def _count(more: int) -> None:
    global _runs, _added
    with _one_at_a_time:
        _runs += more
        _hook.__setstate__((_audited if _runs else operator.is_, (), {}, {}))
        if not _added:
            _added = True
            sys.addaudithook(_hook)


def _audited(event: str, args: tuple[Any, ...]) -> None:
    if event not in _HEARD:
        return
    watchman = _running.watchman
    if watchman is None:
        return
    kind = "file" if event == "open" and _opens_to_write(args) else _EVENTS.get(event)
    if kind is not None and not _loads_a_library() and not _is_of_multiprocessing():
        _stop(kind, args[0] if args else "", watchman)


def _loads_a_library() -> bool:
    """True during the import of a library: stopped halfway, it could never be imported again."""
    module = ""
    for frame, _line in walk_stack(sys._getframe(2)):
        code = frame.f_code
        if code.co_name == "<module>":
            module = os.path.abspath(code.co_filename)
        elif code.co_filename.startswith("<frozen importlib") and module.startswith(library_folders()):
            return True
    return False


def _is_of_multiprocessing() -> bool:
    """True if it is :mod:`multiprocessing` that does it, as for a loader with workers: they have this guard, too, and
    what it makes for them goes with them. Another child, such as that in whose terminal IPython runs ``!ls``, would
    carry an exception up through the user's kernel and run on as a second one."""
    libraries = library_folders()
    for frame, _line in walk_stack(sys._getframe(2)):
        if str(frame.f_globals.get("__name__")).startswith(("multiprocessing.", "torch.multiprocessing.")):
            return True
        name = frame.f_code.co_filename
        if not name.startswith("<frozen") and not os.path.abspath(name).startswith(libraries):
            return False  # the user's own code: what it does in a worker is not the workers' doing
    return False


def _opens_to_write(args: tuple[Any, ...]) -> bool:
    path, mode, flags = (*args, None, None, None)[:3]
    name = os.fsdecode(path) if isinstance(path, (str, bytes, os.PathLike)) else ""
    if not name or name == os.devnull or any(part in name for part in _NEVER_ASKED):
        return False
    if isinstance(mode, str):
        return any(letter in mode for letter in "wax+")
    return isinstance(flags, int) and bool(flags & _WRITING)


def _stand_in(kind: str, real: Callable[..., Any], of: Callable[[tuple[Any, ...]], Any]) -> Callable[..., Any]:
    def standing_in(*args: Any, **kwargs: Any) -> Any:
        watchman = _running.watchman
        if watchman is not None:  # else another thread's
            _stop(kind, of(args), watchman)
        return real(*args, **kwargs)

    return standing_in


def _stop(kind: str, what: Any, watchman: _Watchman) -> None:
    shown = os.fsdecode(what) if isinstance(what, (str, bytes, os.PathLike)) else ""
    text = {
        "file": _("it changes the file {what!r}") if shown else _("it writes a file"),
        "run": _("it runs the command {what!r}") if shown else _("it runs a command"),
        "net": _("it uses the network"),
        "input": _("it asks for input"),
    }[kind].format(what=shown)
    if watchman.allowed:
        if _running.done is not None:
            _running.done[text] += 1
        return
    watchman.met.append(Repeated(text))
    raise watchman.met[-1]


@contextmanager
def _environment() -> Iterator[None]:
    before = dict(os.environ)
    try:
        yield
    finally:
        for name in [name for name in os.environ if name not in before]:
            del os.environ[name]
        for name, value in before.items():
            if os.environ.get(name) != value:
                os.environ[name] = value
