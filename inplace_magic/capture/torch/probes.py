"""The two modes through which torch shows us calls and ops. They ask and pass on; they decide nothing."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from types import FrameType
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from inplace_magic.capture.log import Faults
from inplace_magic.capture.recorder import Recorder
from inplace_magic.capture.running import OpenCall
from inplace_magic.capture.torch.callers import Callers, PassOn, call_plainly, past_overrides
from inplace_magic.capture.torch.describe import tracing
from inplace_magic.capture.torch.functions import FACTS, FunctionFacts, facts_of, without_override_check
from inplace_magic.capture.torch.ops import OpRecorder, as_in_inference_mode, counting_its_writes, looked_at
from inplace_magic.capture.torch.questions import Questions
from inplace_magic.capture.torch.tracebacks import OURS, without_our_frames
from inplace_magic.capture.torch.wrapped import asking_function

_function_modes: Callable[[], int] = torch._C._len_torch_function_stack
"""How many function modes would see a call now. If it vanishes: keep them out always, which costs more."""

_function_mode_at: Callable[[int], Any] = torch._C._get_function_stack_at
_pop_function_mode: Callable[[], Any] = torch._C._pop_torch_function_stack
_push_function_mode: Callable[[Any], Any] = torch._C._push_on_torch_function_stack
"""As ``torch.overrides`` uses them. If one vanishes: leave our mode on, which costs a round trip for each operator of
backward."""

_in_inference_mode: Callable[[], bool] = torch.is_inference_mode_enabled
_OpOverload = torch._ops.OpOverload

_AUTOGRAD_FILES = (torch.autograd.__file__, torch.autograd.graph.__file__, torch._tensor.__file__)


def _called_by_autograd(frame: FrameType | None, facts: FunctionFacts) -> bool:
    """True if autograd makes the call: its Python side prepares the first gradient, or `Tensor.backward` passes on; its
    C++ side calls with no frame at all on the engine's own thread, and else below that Python side."""
    above = past_overrides(frame, facts.code)
    return above is None or above.f_code.co_filename in _AUTOGRAD_FILES


def types_override(types: Any) -> bool:
    """True if an argument's class has a ``__torch_function__`` of its own. It must be asked, as without a watch; the
    user's code in that backward is then not seen."""
    return any([kind not in (torch.Tensor, torch.nn.Parameter) for kind in types])


class CallProbe(TorchFunctionMode):
    """Sees every torch function and method that Python code calls on this thread."""

    def __init__(self, recorder: Recorder) -> None:
        super().__init__()
        self._recorder = recorder
        self._backward_depth = 0
        self._callers = Callers()
        self._within_call = recorder.log.within_call
        self._noted, self._repeats = Questions(recorder).noted, recorder.repeats

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        __tracebackhide__ = True  # IPython leaves this frame out of the user's traceback
        known = FACTS.get(func)
        if known is not None and known.is_look and (known.cannot_warn or type(args[0]) is torch.nn.Parameter):
            return func(*args, **kwargs) if kwargs else func(*args)
        if self._backward_depth and type(func) is _OpOverload:  # OpProbe passes an op of backward on
            return func(*args, **kwargs) if kwargs else func(*args)
        if tracing() is not None:  # a trace that did not begin at one of our doors
            return func(*args, **kwargs) if kwargs else func(*args)
        try:
            frame: FrameType | None = sys._getframe(1)
        except ValueError:  # on a thread of the engine's, from C++
            frame = None
        repeated = None
        if known is not None and (known.asks or known.repeats) and not kwargs and not self._backward_depth:
            if known.asks and len(args) == 1 and self._within_call("noting a call", self._noted, known, args[0], frame):
                return func(*args)
            if known.repeats:
                repeated = self._within_call("looking at a repeated call", self._repeats.again, known, args, frame)
        kwargs = kwargs or {}
        if repeated:
            facts, call, pass_on = known, None, self._callers.like(frame, None)
        else:
            facts, call, pass_on = self._open(func, args, kwargs, known, frame)
        if facts is not None:
            func = facts.func
        try:
            if facts is not None and facts.runs_backward and not types_override(types):
                result = self._with_user_code_seen(func, pass_on, args, kwargs)
            else:
                result = pass_on(func, args, kwargs)
        except BaseException as error:
            if repeated and self._within_call("noting a repeated call", self._repeats.failed, args[0]):
                _, call, _ = self._open(func, args, kwargs, facts, frame)
            if call is not None:
                self._close(call, None, error)
            try:  # noqa: SIM105  `suppress` would need a frame of its own
                error.__traceback__ = without_our_frames(error.__traceback__)
            except RecursionError:  # no room for that: IPython hides our frame, others show it
                pass
            raise
        if call is not None:
            self._close(call, result, None)
        elif repeated:
            self._within_call("noting a repeated call", self._repeats.passed)
        return result

    def _open(
        self,
        func: Any,
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
        facts: FunctionFacts | None,
        frame: FrameType | None,
    ) -> tuple[FunctionFacts | None, OpenCall | None, PassOn]:
        pass_on: PassOn = call_plainly
        try:
            facts = facts or facts_of(func)
            if facts.foreign:
                facts = facts_of(asking_function(func, frame))
            pass_on = self._callers.like(frame, facts.code)
            if facts.ignored or (self._backward_depth and _called_by_autograd(frame, facts)):
                return facts, None, pass_on
            with self._recorder.alone:
                return facts, self._recorder.open(facts, args, kwargs, frame), pass_on
        except RecursionError:  # the user's, whose stack has room for the call alone; so no function is called here
            self._recorder.log.no_room = True
            return facts, None, pass_on
        except Exception as fault:  # containment: whatever fails in here, the user's call runs
            self._recorder.log.fault("opening a call", fault)
            return facts, None, pass_on

    def _close(self, call: OpenCall, result: Any, error: BaseException | None) -> None:
        try:
            with self._recorder.alone:
                self._recorder.close(call, result, error)
        except RecursionError:
            self._recorder.log.no_room = True
        except Exception as fault:  # containment: the user's result or error goes through unchanged
            self._recorder.log.fault("closing a call", fault)
        finally:
            self._recorder.drop(call)

    def _with_user_code_seen(self, func: Any, pass_on: PassOn, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """Runs backward with this mode entered again: hooks, custom ``backward`` and recomputation are the user's
        code."""
        __tracebackhide__ = True
        self._backward_depth += 1
        identity = self._recorder.identity
        outer, identity.in_backward = identity.in_backward, identity.ops is None
        sites, behind = self._recorder.sites, self._recorder.sites.behind
        sites.behind = behind or sys._getframe()
        try:
            with self:
                return pass_on(without_override_check(func), args, kwargs)
        finally:
            sites.behind = behind
            identity.in_backward = outer
            self._backward_depth -= 1


class OpProbe(TorchDispatchMode):  # type: ignore[no-untyped-call]  # torch's __init_subclass__ has no annotations
    """Sees every aten operator, those of backward included."""

    supports_higher_order_operators = True
    """PyTorch asks this before it hands ``cond`` and the like to a mode; without it they raise."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """PyTorch need not keep dynamo away from our handler, which costs an import of dynamo at the first operator:
        we are aside whenever dynamo is at work."""
        return False

    def __init__(self, recorder: Recorder) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # torch leaves it without annotations
        self._recorder = recorder
        self._ops = OpRecorder(recorder)
        self._within_call = recorder.log.within_call

    def __torch_dispatch__(
        self,
        func: Any,
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        __tracebackhide__ = True
        kwargs = kwargs or {}
        plain = type(func) is _OpOverload  # first: to ask an abstract class about each operator takes a microsecond
        if not plain and isinstance(func, torch._ops.HigherOrderOperator):
            return self._pass_on(func, args, kwargs)
        if not self._recorder.meter.idle:
            self._within_call("reading memory", self._ops.begins)
        ours = None  # our function mode, below a backward: off as torch has it off within its handler
        try:
            modes = _function_modes()
            if modes:
                top = _function_mode_at(modes - 1)
                if type(top) is CallProbe:
                    ours = top  # first: an interrupt strikes as a function returns
                    _pop_function_mode()
                    modes -= 1
            facts, counted = self._within_call("looking at an op", looked_at, func, args, kwargs) or (None, ())
            if facts is not None and facts.views_below and plain and _in_inference_mode():
                with as_in_inference_mode():
                    if facts.is_composite:
                        with self:  # its parts come one by one, as they do outside inference mode
                            return func._op_dk(torch._C.DispatchKey.CompositeImplicitAutograd, *args, **kwargs)
                    result = func(*args, **kwargs)
            elif facts is not None and facts.is_custom:
                result = counting_its_writes(func, args, kwargs)
            else:
                result = func(*args, **kwargs)
            try:
                with self._recorder.alone:
                    if modes:
                        with torch._C.DisableTorchFunction():  # our own reads are no calls of the user's
                            self._ops.ended(facts, args, kwargs, result, counted)
                    else:
                        self._ops.ended(facts, args, kwargs, result, counted)
            except RecursionError:
                self._recorder.log.no_room = True
            except Exception as fault:  # containment, as above
                self._recorder.log.fault("recording an op", fault)
            return result
        finally:
            if ours is not None:
                _push_function_mode(ours)

    def _pass_on(self, func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """Runs a higher-order operator, which is no aten operator and has no schema."""
        self._within_call("recording an op", self._ops.not_seen, func)
        return func(*args, **kwargs)


OURS.update(
    (
        CallProbe.__torch_function__.__code__,
        CallProbe._with_user_code_seen.__code__,
        OpProbe.__torch_dispatch__.__code__,
        looked_at.__code__,
        Faults.within_call.__code__,
        OpProbe._pass_on.__code__,
    )
)


def keep_out_of_dynamo(*functions: Any) -> None:
    """Makes ``torch.compile`` run eagerly below our probes, instead of compiling them: else one graph of the user's
    becomes dozens, and the compiled entries stay after the watch. Private; if it vanishes, compiled functions are
    slow while they are watched."""
    for function in functions:
        OURS.add(function.__code__)
        function._torchdynamo_disable = True
    frames = getattr(getattr(torch._C, "_dynamo", None), "eval_frame", None)
    skip = getattr(getattr(frames, "_FrameAction", None), "SKIP", None)
    if frames is None or skip is None or not hasattr(frames, "set_code_exec_strategy"):
        return
    strategy = frames._FrameExecStrategy(skip, skip)
    for function in functions:
        frames.set_code_exec_strategy(function.__code__, strategy)


keep_out_of_dynamo(CallProbe.__torch_function__, CallProbe._with_user_code_seen, OpProbe.__torch_dispatch__)
