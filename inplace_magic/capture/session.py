"""Begins and ends one watch on this thread: enters the probes, takes them off again on every exit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import FrameType
from typing import Any

import torch

from inplace_magic.capture.names import read_namespace
from inplace_magic.capture.probes import CallProbe, OpProbe
from inplace_magic.capture.recorder import Recorder
from inplace_magic.capture.sources import Sources
from inplace_magic.errors import InplaceMagicError
from inplace_magic.options import WatchOptions
from inplace_magic.trace import Trace

_SEEN_AT = {
    "calls": (
        "At level `calls`, ops inside a torch call, backward's own ops and temporaries are not seen; `--level "
        "ops` sees them.",
        "Writes through NumPy or DLPack, and on other Python threads, are not seen.",
    ),
    "ops": (
        "Writes through NumPy or DLPack, and on other Python threads, are not seen.",
        "At level `ops`, torch.compile runs its functions eagerly.",
    ),
}


class Session:
    """One watch.

    Raises:
        InplaceMagicError: another watch is running on this thread.
    """

    def __init__(self, options: WatchOptions) -> None:
        self.options = options
        self._recorder = Recorder(options)
        self._modes: list[Any] = []
        self.active = False

    @property
    def recorded(self) -> int:
        """How many calls were recorded so far."""
        return self._recorder.clock()

    def start(self, root: FrameType | None, cell_globals: Mapping[str, Any] | None = None) -> None:
        """Enters the probes; after :meth:`leave`, for the next cell of the same story.

        Args:
            root: the frame that holds the watched block; no caller above it belongs to the story.
            cell_globals: the namespace of a shell's cells, where the frame is not known yet.
        """
        modes_now: Callable[[], list[Any]] = torch.overrides._get_current_function_mode_stack
        if any(isinstance(mode, CallProbe) for mode in modes_now()):
            raise InplaceMagicError("A watch is running already: end it before another begins.")
        self._recorder.sites.begin_at(root, cell_globals)
        modes: list[Any] = [OpProbe(self._recorder)] if self.options.level == "ops" else []
        for mode in [*modes, CallProbe(self._recorder)]:
            mode.__enter__()
            self._modes.append(mode)
        self.active = True

    def leave(self) -> None:
        """Takes the probes off; does nothing when they are off already."""
        self.active = False
        while self._modes:
            self._modes.pop().__exit__(None, None, None)

    def trace(
        self,
        *,
        sources: Sources,
        namespace: Mapping[str, Any],
        error: BaseException | None,
        cell: int | None,
        source: str,
        last: bool = True,
    ) -> Trace:
        """The record of the watch so far, while the probes are off.

        Args:
            sources: source text of the watched code.
            namespace: the user's names.
            error: what the watched block raised.
            cell: its execution count.
            source: its text.
            last: the watch ends here.
        """
        found = read_namespace(namespace, self._recorder.identity)
        trace = self._recorder.freeze(sources, found, _SEEN_AT[self.options.level], last=last)
        return replace(
            trace,
            error=None if error is None else f"{type(error).__name__}: {error}",
            cell=cell,
            source=tuple(source.splitlines()),
        )
