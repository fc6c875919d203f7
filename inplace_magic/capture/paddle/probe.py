"""What stands in the place of an operation of Paddle's while a watch runs: it asks and passes on, and decides nothing.

An error leaves through a stand-in without a trace of it: IPython shows the innermost frame whatever it is, so ours is
taken out of the traceback before the error goes on, and out of a text that C++ made of the frames.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

import paddle

from inplace_magic.capture.paddle.recorder import Recorder
from inplace_magic.capture.paddle.refusals import without_our_lines
from inplace_magic.capture.paddle.spots import Spot

_is_eager: Callable[[], bool] = paddle.in_dynamic_mode
_this_thread: Callable[[], int] = threading.get_ident
_frame: Callable[[int], Any] = sys._getframe


class Probe:
    """Makes the stand-ins of one watch, and can silence them all."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._thread = _this_thread()
        self.silent = False
        """In a forked child, and once the watch is over: a stand-in that somebody has kept only passes on."""
        self._inside = False

    def stand_in(self, spot: Spot) -> Any:
        """What stands in a spot."""
        if spot.kind == "setter":
            return property(spot.original.__get__, self._watching(spot, spot.original.__set__))
        if spot.kind == "apply":
            return classmethod(self._apply(spot))
        if spot.kind == "saves":
            return self._saves(spot)
        if spot.kind == "clears":
            return self._clears(spot)
        if spot.kind == "reads":
            return property(self._reads(spot), spot.original.__set__)
        return self._watching(spot, spot.original)

    def _watching(self, spot: Spot, original: Any) -> Any:
        facts, recorder = spot.facts, self._recorder
        probe = self

        def stand_in(*args: Any, **kwargs: Any) -> Any:
            if probe.silent or probe._inside or _this_thread() != probe._thread or not _is_eager():
                call = None
            else:
                probe._inside = True
                try:
                    call = recorder.open(facts, args, kwargs, _frame(1))
                except Exception as fault:  # containment: a fault of ours must not keep the user's call from running
                    recorder.log.fault("noting a call", fault)
                    call = None
                finally:
                    probe._inside = False
            try:
                result = original(*args, **kwargs)
            except BaseException as error:
                if facts.runs_python:
                    recorder.log.contained("reading the text of an error", without_our_lines, error)
                if call is not None:
                    probe._end(call, None, error)
                traceback = error.__traceback__
                if traceback is not None:
                    error.__traceback__ = traceback.tb_next
                raise
            if call is not None:
                probe._end(call, result, None)
            return result

        stand_in.__name__ = stand_in.__qualname__ = spot.name
        stand_in.__doc__ = getattr(original, "__doc__", None)
        return stand_in

    def _reads(self, spot: Spot) -> Callable[[Any], Any]:
        recorder, probe, read = self._recorder, self, spot.original.__get__

        def gradient(tensor: Any) -> Any:
            found = read(tensor)
            if found is not None:
                probe._note("noting a gradient that is read", recorder.met, found)
            return found

        return gradient

    def _clears(self, spot: Spot) -> Callable[..., Any]:
        recorder, probe, original, facts = self._recorder, self, spot.original, spot.facts

        def clear_gradient(tensor: Any, set_to_zero: bool = True) -> Any:
            probe._note(
                "noting a gradient that is cleared", recorder.cleared, facts, tensor, _frame(1), bool(set_to_zero)
            )
            return original(tensor, set_to_zero)

        return clear_gradient

    def _apply(self, spot: Spot) -> Callable[..., Any]:
        recorder, probe = self._recorder, self
        passed_on: dict[type, Any] = {}

        def apply(cls: type, *args: Any, **kwargs: Any) -> Any:
            watched = passed_on.get(cls)
            if watched is None:
                bound = super(spot.holder, cls).apply  # type: ignore[misc]  # of C++, below Paddle's own class
                watched = passed_on[cls] = probe._watching(spot, bound)
            recorder.kept.append([])
            try:
                return watched(*args, **kwargs)
            except BaseException as error:
                traceback = error.__traceback__
                if traceback is not None:
                    error.__traceback__ = traceback.tb_next
                raise
            finally:
                recorder.kept.pop()

        return apply

    def _saves(self, spot: Spot) -> Callable[..., Any]:
        recorder, probe, original = self._recorder, self, spot.original

        def save_for_backward(ctx: Any, *tensors: Any) -> None:
            if recorder.kept and not probe.silent and _this_thread() == probe._thread:
                recorder.kept[-1] = [tensor for tensor in tensors if isinstance(tensor, paddle.Tensor)]
            original(ctx, *tensors)

        return save_for_backward

    def _note(self, doing: str, note: Callable[..., None], *what: Any) -> None:
        if self.silent or self._inside or _this_thread() != self._thread:
            return
        self._inside = True
        try:
            self._recorder.log.contained(doing, note, *what)
        finally:
            self._inside = False

    def _end(self, call: Any, result: Any, error: BaseException | None) -> None:
        recorder = self._recorder
        self._inside = True
        try:
            recorder.close(call, result, error)
        except Exception as fault:  # containment: the call has its result, and keeps it
            recorder.log.fault("noting what a call did", fault)
        finally:
            self._inside = False
            recorder.drop(call)
