"""Work beside a watched block, without a probe: other Python threads, and processes that the block started.

Both are counted from outside, from Python's own records, when a block begins and when it ends: nothing is put on a
thread and no library is patched. So the numbers are lower bounds: a finished thread with a name of its own leaves no
trace.
"""

from __future__ import annotations

import os
import re
import sys
import threading
import weakref
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

_OF_THE_HOUSE = frozenset(
    (
        *("IPython", "ipykernel", "jupyter_client", "zmq", "tornado", "traitlets", "debugpy", "pydevd"),
        *("_pydev_bundle", "_pydevd_bundle", "tqdm", "torch", "execnet", "wandb", "tensorboard", "tensorboardX"),
    )
)
"""Packages whose own threads run no user code: a kernel's, a debugger's, a progress bar's."""

_HANDLERS = ("_feed", "_handle_workers", "_handle_tasks", "_handle_results", "_pin_memory_loop", "QueueFeederThread")
"""Functions of the threads by which `multiprocessing` and ``DataLoader`` talk to their processes."""

_EXECUTES_SOMETHING_ELSE = ("pty", "ptyprocess", "pexpect", "subprocess")
"""Modules whose forked children become other programs at once, as with ``!ls``."""

_forked = 0
"""How often this process was forked by others than `multiprocessing`."""


def _count_fork() -> None:
    global _forked
    frame = sys._getframe().f_back if hasattr(sys, "_getframe") else None
    module = str(frame.f_globals.get("__name__", "")) if frame is not None else ""
    if module.split(".")[0] not in (*_EXECUTES_SOMETHING_ELSE, "multiprocessing", "multiprocess"):
        _forked += 1


if hasattr(os, "register_at_fork"):  # not on Windows, which has no fork
    os.register_at_fork(after_in_parent=_count_fork)


class Beside:
    """Counts what runs beside the blocks of one watch."""

    def __init__(self) -> None:
        self._threads = 0
        self._processes = 0
        self._known: weakref.WeakSet[threading.Thread] = weakref.WeakSet()
        self._unnamed = self._executors = self._process_objects = self._forks = 0
        self._company: dict[int, str] = {}
        self._within = False

    def begin(self) -> None:
        """Note that a block begins."""
        self._known = weakref.WeakSet(thread for thread in _threads() if thread.ident is not None)
        self._company = _company()
        self._unnamed = _peek(threading, "_counter")
        self._executors = _executors()
        self._process_objects = _process_objects()
        self._forks = _forked
        self._within = True

    def end(self) -> None:
        """Note that the block is over."""
        if self._within:
            self._threads, self._processes, self._within = self.threads, self.processes, False

    @property
    def threads(self) -> int:
        """Return a lower bound of the threads started by the blocks that can run user code."""
        return self._threads + (self._started() if self._within else 0)

    @property
    def processes(self) -> int:
        """Return a lower bound of the Python processes started by the blocks."""
        more = _process_objects() - self._process_objects + _forked - self._forks if self._within else 0
        return self._processes + max(0, more)

    def others(self) -> bool:
        """True if another thread that can run the user's code ran since the block began. One that has waited all the
        time, as those of a pool do that a compiler left behind, did not."""
        company = _company()
        rested = all([company.get(thread) == runs != "" for thread, runs in self._company.items()])
        return not rested or company.keys() != self._company.keys() or self._started() > 0

    def _started(self) -> int:
        fresh = [t for t in _threads() if t not in self._known and t.ident is not None]
        seen = [t for t in fresh if not _of_the_house(t)]
        numbered = sum(t.name.startswith(("Thread-", "Dummy-")) for t in fresh)
        unnamed = _peek(threading, "_counter") - self._unnamed - numbered
        if unnamed > 0 and _process_objects() > self._process_objects:
            unnamed = 0  # a pool of processes has threads of its own
        pools = {t.name.partition("_")[0] for t in fresh if t.name.startswith("ThreadPoolExecutor-")}
        gone = _executors() - self._executors - len(pools)
        if gone > 0:
            gone -= _never_used(self._executors)
        return len(seen) + max(0, unnamed) + max(0, gone)


def _threads() -> Iterator[threading.Thread]:
    """Return the running threads, and the ended ones that somebody still refers to."""
    found = {id(thread): thread for thread in threading.enumerate()}
    with suppress(AttributeError, RuntimeError):  # private; if it vanishes, threads that ended uncounted are missing
        found.update((id(thread), thread) for thread in list(threading._dangling))  # type: ignore[attr-defined]
    return iter(found.values())


def _company() -> dict[int, str]:
    """Return the other threads that can run user code, by number, and a counter of their runs."""
    me = threading.get_ident()
    others = (thread for thread in threading.enumerate() if thread.ident != me and not _of_the_house(thread))
    return {thread.native_id or 0: _times_run(thread.native_id) for thread in others}


def _times_run(thread: int | None) -> str:
    """Return how often a thread got a processor, as Linux counts it
    (https://docs.kernel.org/scheduler/sched-stats.html#proc-pid-schedstat); empty where nobody tells."""
    try:
        return Path(f"/proc/self/task/{thread}/schedstat").read_text(encoding="ascii").split()[2]
    except (OSError, ValueError, IndexError):
        return ""


def _of_the_house(thread: threading.Thread) -> bool:
    """True if a thread runs no code of the user's."""
    if isinstance(thread, threading._DummyThread):
        return True  # made outside Python: a kernel's, or one of autograd's
    target: Any = getattr(thread, "_target", None)  # gone when it has ended
    modules = (type(thread).__module__, getattr(target, "__module__", None) or "")
    if any([module.split(".")[0] in _OF_THE_HOUSE or module == "concurrent.futures.process" for module in modules]):
        return True
    return any([name in thread.name for name in _HANDLERS]) or getattr(target, "__name__", "") in _HANDLERS


def _peek(owner: Any, name: str) -> int:
    """Return the next number of a module's counter, without moving it; 0 if there is none. The counter is private: if
    it vanishes, threads that ended before the block are not counted."""
    counter = getattr(getattr(owner, name, None), "__self__", getattr(owner, name, None))
    match = re.fullmatch(r"count\((\d+)\)", repr(counter))
    return int(match[1]) if match is not None else 0


def _executors() -> int:
    """Return the number of thread pools without a name of their own made so far."""
    module = sys.modules.get("concurrent.futures.thread")
    return _peek(getattr(module, "ThreadPoolExecutor", None), "_counter")


def _never_used(first: int) -> int:
    """Return how many thread pools, from that number on, are module variables without a thread: libraries make them at
    import."""
    kind: Any = getattr(sys.modules.get("concurrent.futures.thread"), "ThreadPoolExecutor", None)
    names = set()
    for module in list(sys.modules.values()):
        for value in list(getattr(module, "__dict__", {}).values()):
            if type(value) is kind and not getattr(value, "_threads", None):
                names.add(str(getattr(value, "_thread_name_prefix", "")))
    numbered = [re.fullmatch(r"ThreadPoolExecutor-(\d+)", name) for name in names]
    return len([found for found in numbered if found is not None and int(found[1]) >= first])


def _process_objects() -> int:
    """Return how many processes `multiprocessing` and packages built on it made so far."""
    return sum(
        _peek(sys.modules.get(f"{name}.process"), "_process_counter") for name in ("multiprocessing", "multiprocess")
    )
