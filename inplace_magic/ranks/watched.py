"""A function that watches itself in whatever process it is called: for launchers that start processes from a cell or a
script, such as ``notebook_launcher`` of accelerate and ``torch.multiprocessing.spawn``."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from inplace_magic.ranks.rank import this_rank
from inplace_magic.ranks.stopped import SIGTERM, Stopped
from inplace_magic.ranks.together import begin_together, tell_together
from inplace_magic.render.deliver import has_note, tell
from inplace_magic.watching.api import watch


class watched:
    """Return the function with a watch around it: ``notebook_launcher(watched(train), num_processes=2)``.

    Results and exceptions are the function's. A finding is in the notes of an error, which launchers return with the
    traceback. Findings without an error appear on standard error, once for all ranks if the launcher sets the rank. It
    can be pickled if the function can, also for ``spawn``.

    Args:
        function: function that each process runs.
        settings: as for :class:`inplace_magic.watch`: ``level``, ``lang`` and so on.

    Raises:
        OptionError: an unknown option or an invalid value.
    """

    def __init__(self, function: Callable[..., Any], **settings: Any) -> None:
        watch(**settings)  # here, so that an option that does not exist is refused at once
        self._function, self._settings = function, settings
        functools.update_wrapper(self, function)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        rank, watching = this_rank(), watch(**self._settings)

        def report_once(error: BaseException | None) -> None:
            stopping.ending()
            if watching.report is None:
                return
            if rank is not None:
                tell_together(rank, watching.report, stopping, quiet=True, told=has_note(error))
            elif not has_note(error):
                tell(watching.report, quiet=True)

        def stopped() -> None:
            if watching.report is None:
                watching.stop(error=SIGTERM())
            report_once(None)

        stopping = Stopped(stopped)
        if rank is not None:
            begin_together(rank)
            stopping.begin()
        try:
            with watching:
                result = self._function(*args, **kwargs)
        except BaseException as error:
            report_once(error)
            raise
        else:
            report_once(None)
        finally:
            stopping.end()
        return result
