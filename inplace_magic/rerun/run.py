"""One run of a variant on copies of its state, for its outcome, its costs or its time."""

from __future__ import annotations

import random
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import torch
from torch.nn.modules.module import register_module_forward_pre_hook

from inplace_magic.errors import CompareError, CopyError, chained, error_text
from inplace_magic.language import _
from inplace_magic.record.garbage import collection_paused
from inplace_magic.rerun.backwards import Stopped, gradients_noted, values_only
from inplace_magic.rerun.flops import Counts, counting
from inplace_magic.rerun.memory import too_little_room
from inplace_magic.rerun.outcome import Outcome, backward_of
from inplace_magic.rerun.program import Program
from inplace_magic.rerun.settings import cuda_is_used, same_settings
from inplace_magic.rerun.state import bound_first, find_state
from inplace_magic.rerun.twins import Copies, copy_state, in_place

_PASSED_ON = (Exception, KeyboardInterrupt, SystemExit, GeneratorExit)
Quiet = Callable[[], AbstractContextManager[Any]]
"""Makes a context without output of the code."""


@dataclass(frozen=True, slots=True)
class Failure:
    """The exception of a variant."""

    error: BaseException
    backward: bool
    """True when the code itself ran, and backward of its result raised."""

    def __str__(self) -> str:
        return error_text(self.error)


class Runner:
    """Runs one variant, as often as asked, each time from the same state.

    Args:
        flag: what every ``inplace`` flag is set to; None leaves them alone.
        seed: seeds all generators before each run; None: they begin where the user's are now.
        around: makes a context that every run is inside of, and in which its code prints nothing.
    """

    def __init__(self, program: Program, flag: bool | None, around: Quiet, seed: int | None = None) -> None:
        self.program = program
        self.flags: dict[str, int] = {}
        self._flag = flag
        self._seed = seed
        self._around = around
        self._state = find_state(program.codes, program.roots, program.namespace)

    @contextmanager
    def stage(self) -> Iterator[Copies]:
        """Prepare everything for one run of the program, and restore it afterwards.

        Raises:
            CopyError: a variable that the program reads cannot be copied.
        """
        namespace = self.program.namespace
        copies = self._copies()
        given = [value for _, value in copies.places]
        modules = [value for value in (*given, *copies.roots) if isinstance(value, torch.nn.Module)]
        with (
            same_settings(),
            warnings.catch_warnings(),
            _inplace_flags(self._flag, modules) as self.flags,
            in_place(copies, namespace),
            self._around(),
        ):
            warnings.simplefilter("ignore")
            if self._seed is not None:
                _seed_all(self._seed)
            try:
                yield copies
            except NameError as error:
                sentence = copies.refused.get(str(getattr(error, "name", "")))
                if sentence is None:
                    raise
                refused = CopyError(sentence)
                refused.variable = error.name
                raise refused from error
            except BaseException as error:  # such as that of `pytest.raises`, whose error did not come
                if isinstance(error, _PASSED_ON) or type(error).__module__.startswith("inplace_magic."):
                    raise
                text = _("A check of the program's own ended it: {error}.").format(error=error_text(error))
                raise CompareError(text) from error

    def _copies(self) -> Copies:
        """Fresh copies; without the names that the program binds before it reads them, where with those it cannot be:
        of a cell that ran before they hold what it left, such as functions around results with a graph."""
        program = self.program
        try:
            return copy_state(self._state, program.roots, program.namespace)
        except CopyError:
            if not self.forget_old_names():
                raise
        return copy_state(self._state, program.roots, program.namespace)

    @property
    def warning(self) -> str:
        """Return a warning if there is little room for copies; empty otherwise."""
        return too_little_room(self._state.tensors)

    def forget_old_names(self) -> bool:
        """Leave out of the copies the names that the program binds before it reads them. True if there are any."""
        program = self.program
        old = bound_first(program.codes) if program.namespace is not None else frozenset()
        if old:
            self._state = find_state(program.codes, program.roots, program.namespace, without=old)
        return bool(old)

    def outcome(self, *, taken: bool = False, brief: bool = False) -> tuple[Outcome, Failure | None]:
        """Return the outcome of a run. If it makes no gradients itself, the gradients of its result are taken.

        Args:
            taken: also take gradients that no variable shows at the end of the run.
            brief: keep only a digest of tensors other than gradients.
        """
        left = Outcome(brief=brief)
        try:
            with self.stage() as copies, gradients_noted() if taken else nullcontext() as noted:
                before = Outcome()
                for _name, value in (*self.program.given(copies.roots), *copies.places):
                    before.look(value)
                marks = before.gradient_marks()
                try:
                    value = self.program.run(copies.roots)
                except Stopped:
                    value = None
                left.began = copies.began()
                for name, output in self.program.outputs(value):
                    left.add("output", name, output)
                for name, given_value in self.program.given(copies.roots):
                    left.add("state", name, given_value)
                for place, copied in copies.places:
                    left.add("state", place.label, copied)
                if left.gradient_marks() != marks or (noted is not None and noted.gradients):
                    left.gradients_of = "the code"
                else:
                    try:
                        left.gradients_of = "the result" if backward_of(value) else ""
                    except Exception as error:  # what we look for: an in-place write that broke the graph
                        return left, Failure(_without_frames(error), backward=True)
                left.add_gradients()
                if noted is not None:
                    left.add_taken(noted)
        except CompareError:
            raise
        except Exception as error:  # the code is the user's: whatever it raises is the result of this run
            return left, Failure(_without_frames(error), backward=False)
        finally:
            left.close()
        return left, None

    def first_roots(self) -> list[torch.Tensor] | None:
        """Return the roots of a run's first backward, computed without autograd; None without a backward."""
        try:
            with values_only() as taken, self.stage() as copies:
                self.program.run(copies.roots)
        except CompareError:
            raise
        except Exception:  # without a graph the program may go other ways
            return None
        return taken.roots

    def counts(self) -> Counts:
        """MACs and element operations of a run."""
        with self.stage() as copies, counting() as counts:
            self.program.run(copies.roots)
        return counts

    def seconds(self) -> float:
        """Wall time of a run, with the device's work done and the garbage collector off, as :mod:`timeit` has it."""
        with self.stage() as copies:
            with collection_paused():
                _synchronize()
                begin = time.perf_counter()
                value = self.program.run(copies.roots)
                _synchronize()
                seconds = time.perf_counter() - begin
            del value
        return seconds


@contextmanager
def _inplace_flags(value: bool | None, modules: Iterable[torch.nn.Module] = ()) -> Iterator[dict[str, int]]:
    """In this block, set the boolean ``inplace`` flag of every module.

    Args:
        value: new value of the flags; None leaves them alone.
        modules: modules to begin with. All others, such as those that the code makes itself, are set right before
            their ``forward``.

    Returns:
        How many modules of each class had such a flag, filled in while the block runs.
    """
    found: dict[str, int] = {}
    if value is None:
        yield found
        return
    own: dict[int, tuple[torch.nn.Module, bool]] = {}

    def set_flag(module: torch.nn.Module, _args: Any = None) -> None:
        flag = vars(module).get("inplace")
        if type(flag) is bool:
            if id(module) not in own:
                own[id(module)] = module, flag
                found[type(module).__name__] = found.get(type(module).__name__, 0) + 1
            vars(module)["inplace"] = value

    for module in modules:
        for each in module.modules():
            set_flag(each)
    hook = register_module_forward_pre_hook(set_flag)
    try:
        yield found
    finally:
        hook.remove()
        for module, flag in own.values():
            vars(module)["inplace"] = flag


def _without_frames(error: Exception) -> Exception:
    """Return an error without its frames, which would keep the copies of the finished run alive."""
    for each in chained(error):
        each.__traceback__ = None
    return error


def _seed_all(seed: int) -> None:
    torch.default_generator.manual_seed(seed)
    # `torch.manual_seed` would put a call by, with the stack as text, for each kind of device that is not there.
    for device in (torch.cuda, torch.mps, torch.xpu):
        if device.is_available():
            getattr(device, "manual_seed_all", torch.manual_seed)(seed)
    random.seed(seed)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(seed % 2**32)


def _synchronize() -> None:
    if cuda_is_used():
        torch.cuda.synchronize()
    elif torch.backends.mps.is_available():
        torch.mps.synchronize()
