"""What stands in PyTorch's doors while a watch runs: it lets the watch step aside, and then does what PyTorch does."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from itertools import chain
from types import FrameType, FunctionType, TracebackType
from typing import Any

from inplace_magic.capture.stepping_aside.aside import COMPILED, FUNCTIONALIZED, REPLAYED, SCRIPTED, Aside, Work, here
from inplace_magic.capture.stepping_aside.bracketed import bracketed
from inplace_magic.capture.torch.callers import is_stand_in
from inplace_magic.capture.torch.functions import is_torchs

Make = Callable[[Any], Any]
_COPIES: dict[Any, Any] = {}


def _ends_here() -> None:
    aside = here()
    if aside is not None:
        aside.end(id(sys._getframe(1)), None, sys.exc_info()[1])


def function(work: Work) -> Make:
    """For a function that does the work from its first line to its last."""

    def begins_here() -> None:
        aside = here()
        if aside is not None:
            frame = sys._getframe(1)
            aside.begin(id(frame), work, frame)

    def make(original: Any) -> Any:
        if not isinstance(original, FunctionType) or not is_torchs(original.__code__):
            return None  # somebody else stands there already
        if original not in _COPIES:
            _COPIES[original] = bracketed(original, begins_here, _ends_here)
        return _COPIES[original]

    return make


def context(work: Work) -> Make:
    """For a context manager that PyTorch enters around the work."""

    def make(original: Any) -> Any:
        @functools.wraps(original)
        def around(*args: Any, **kwargs: Any) -> Any:
            manager = original(*args, **kwargs)
            aside = here()
            return manager if aside is None or aside.away else _Around(manager, aside, work)

        return around

    return make


class _Around:
    """A context manager within which the watch is aside."""

    def __init__(self, manager: Any, aside: Aside, work: Work) -> None:
        self._manager = manager
        self._aside = aside
        self._work = work

    def __enter__(self) -> Any:
        frame = sys._getframe(1)
        self._aside.begin(id(self), self._work, frame)
        try:
            return self._manager.__enter__()
        except BaseException as error:
            self._aside.end(id(self), None, error)
            raise

    def __exit__(self, kind: Any, error: BaseException | None, traceback: Any) -> Any:
        try:
            return self._manager.__exit__(kind, error, traceback)
        finally:
            self._aside.end(id(self), None, error)


def functionalized(original: Any) -> Any:
    """For the call with which a functionalized function begins."""

    def begins(*args: Any) -> Any:
        aside = here()
        if aside is not None:
            frame = sys._getframe(1)
            aside.begin(id(frame), FUNCTIONALIZED, frame, *_arguments(frame))
        return original(*args)

    return begins


def end_of_functionalized(original: Any) -> Any:
    """For the call with which it ends, whether it returns or raises."""

    def ends(*args: Any) -> Any:
        aside = here()
        try:
            return original(*args)
        finally:
            if aside is not None:
                frame = sys._getframe(1)
                aside.end(id(frame), frame.f_locals.get("outputs"), sys.exc_info()[1])

    return ends


def compiled(original: Any) -> Any:
    """For the hooks that a compiled function calls before it runs."""
    return _EnterExitHooks() if original is None else None


class _EnterExitHooks:
    """Stands for an attribute of each context of dynamo's: the list that is there, and one hook more.

    Read where nobody watches, the list is what it is. A context without a callback runs its function as it is
    (``torch.compiler.disable``), and so does every one under ``set_stance("force_eager")``: that is watched.
    """

    def __get__(self, owner: Any, kind: Any = None) -> Any:
        if owner is None:
            return self
        try:
            hooks = owner.__dict__["enter_exit_hooks"]
        except KeyError:
            raise AttributeError("enter_exit_hooks") from None
        aside = here()
        if aside is None or aside.away or getattr(owner, "callback", None) is None:
            return hooks
        return _WithOurs(hooks)

    def __set__(self, owner: Any, value: Any) -> None:
        owner.__dict__["enter_exit_hooks"] = value


class _WithOurs:
    def __init__(self, hooks: Any) -> None:
        self._hooks = hooks

    def __iter__(self) -> Iterator[Any]:
        return chain(self._hooks, (_compiled_begins,))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._hooks, name)


def _compiled_begins() -> Callable[[], Any]:
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_name.startswith("<"):  # a comprehension calls the hooks
        frame = frame.f_back
    aside = here()
    if frame is None or aside is None or getattr(frame.f_globals.get("_stance"), "stance", "") == "force_eager":
        return _nothing
    begun = aside.begin(id(frame), COMPILED, frame, *_arguments(frame))
    ends_by_name = "prior" in frame.f_code.co_varnames and "_maybe_set_eval_frame" in frame.f_code.co_names
    if not begun or ends_by_name:
        return _nothing
    return functools.partial(aside.end, id(frame))


def _nothing() -> None:
    pass


def end_of_compiled(original: Any) -> Any:
    """Wraps the last function that a compiled function calls, with the callback that it had found, whether it returns
    or raises. What undoes the hooks comes too early (a guard that it leaves then would forget that a dispatch
    mode is on) and not always (not where ``fullgraph=True`` finds nothing to compile)."""

    def ends(callback: Any) -> Any:
        aside = here()
        if aside is not None and aside.away:  # also called around whatever dynamo keeps out, several times a call
            frame = sys._getframe(1)
            if aside.is_for(id(frame)) and callback is frame.f_locals.get("prior"):
                aside.end(id(frame), frame.f_locals.get("result"), sys.exc_info()[1])
        return original(callback)

    return ends


def _arguments(frame: FrameType) -> tuple[Any, Any]:
    names = frame.f_locals
    return names.get("args", ()), names.get("kwargs", {})


def scripted(original: Any) -> Any:
    """For the call of a function of TorchScript. Python functions that it calls back are seen; not at level ``ops``,
    where the watch steps aside: under any dispatch mode TorchScript mistakes the arguments of its own operators."""

    def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        aside = here()
        if aside is None or aside.away:
            return original(self, *args, **kwargs)
        frame = sys._getframe().f_back  # None: a hook, called by the engine on its own thread
        pass_on = aside.callers.like(frame, None)
        call = None
        if aside.sees_operators:
            aside.begin(id(frame), SCRIPTED, frame, args, kwargs)
        else:
            call = aside.open(SCRIPTED, args, kwargs, frame)
        try:
            result = pass_on(original, (self, *args), kwargs)
        except BaseException as error:
            aside.end(id(frame), None, error)
            aside.close(call, None, error)
            error.__traceback__ = _without_ours(error.__traceback__)
            raise
        aside.end(id(frame), result)
        aside.close(call, result, None)
        return result

    return __call__


def looked_at(original: Any) -> Any:
    """For a text or a graph of TorchScript's: the numbers in it are compared and printed by operators, which fail under
    a dispatch mode. Nothing of the user's runs, so nothing is noted."""
    is_property = isinstance(original, property)
    read = original.__get__ if is_property else original
    if read is None:
        return None

    def look(self: Any, *args: Any) -> Any:
        aside = here()
        if aside is None or not aside.sees_operators:
            return read(self, *args)
        frame = sys._getframe()
        aside.begin(id(frame), None, frame)
        try:
            return read(self, *args)
        finally:
            aside.end(id(frame))

    return property(look, doc=original.__doc__) if is_property else look


def counted(original: Any) -> Any:
    """For the part in C++ of ``CUDAGraph.replay``, to which a method that somebody keeps comes too. It calls none of
    the operators that it runs again; the watch of this thread counts it, and what the graph wrote cannot be asked
    without waiting for the device."""
    if original is None:
        return None

    @functools.wraps(original)
    def replay(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        watch = here()
        if watch is not None and not watch.away:
            watch.count(REPLAYED, sys._getframe(1))
        return original(*args, **kwargs)

    return replay


def _without_ours(traceback: TracebackType | None) -> TracebackType | None:
    """What is left of a traceback below this file and the stand-in that made the call."""
    while traceback is not None:
        frame = traceback.tb_frame
        if frame.f_globals is not globals() and not is_stand_in(frame.f_code):
            break
        traceback = traceback.tb_next
    return traceback
