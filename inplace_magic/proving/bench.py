"""Run the program of a report again: as written, with copies of all saved values, and with a fix."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from inplace_magic.errors import CompareError
from inplace_magic.language import _, language
from inplace_magic.record.events import CallEvent
from inplace_magic.record.outcomes import GradientError
from inplace_magic.record.trace import Trace
from inplace_magic.report import Report
from inplace_magic.rerun.backwards import Passes, backwards_counted, graphs_kept
from inplace_magic.rerun.guard import harmless
from inplace_magic.rerun.outcome import Outcome, compare, gradient_errors
from inplace_magic.rerun.run import Failure, Runner
from inplace_magic.rerun.saved_copies import ChangedSave, Reach, Saves, saved_values_copied, saves_compared
from inplace_magic.rerun.slopes import Slope, slope_of
from inplace_magic.source.hunks import Hunk, Whose, by_text
from inplace_magic.watching.api import watch
from inplace_magic.watching.on_copies import watched

Changes = dict[Whose, list[Hunk]]
_each_run: ContextVar[Callable[[], object] | None] = ContextVar("each_run", default=None)


@contextmanager
def each_run(tick: Callable[[], object]) -> Iterator[None]:
    """In this block, call `tick` before each run of a program, for a progress bar."""
    before = _each_run.set(tick)
    try:
        yield
    finally:
        _each_run.reset(before)


@dataclass(frozen=True, slots=True)
class Ran:
    """One run, to its end or to its exception."""

    outcome: Outcome
    failure: Failure | None
    own_hooks: bool = False
    """True if the program's own saved-tensor hooks packed instead of ours."""
    passes: int = 0
    """Number of started backward passes."""
    stopped: bool = False
    """True if the run was stopped before the next one."""


MORE_PASSES = 8
"""Number of backward passes that a run makes beyond the one that raised as written: a long loop is cut short."""


class Bench:
    """Runs of one program, each from the same beginning.

    Args:
        staged: result of :meth:`.Origin.begun`.
        allowed: allow files, commands and the network again.
    """

    def __init__(self, staged: Any, trace: Trace, *, allowed: bool = False) -> None:
        self._staged = staged
        self._trace = trace
        self._allowed = allowed
        self._warned = False

    @cached_property
    def meant(self) -> Ran:
        """Run the program as written, with a copy of everything that autograd saves; if it goes through a graph twice,
        keep every graph."""
        return self.run({}, copied=True)

    @cached_property
    def written(self) -> Ran:
        """Run the program as written; keep only the gradients of its outcome."""
        ran = self.run({})
        ran.outcome.keep_only("gradient" if ran.failure is None else None)
        return ran

    @cached_property
    def is_deterministic(self) -> bool:
        """True if a second run has the same outcome."""
        again = self.run({}, copied=True)
        return not compare(self.meant.outcome, again.outcome).differences

    @cached_property
    def wrong_gradients(self) -> tuple[GradientError, ...]:
        """Return the errors of the gradients as written against those that the forward means, the worst first. Empty if
        all are within rounding, if there are no gradients, or if it is unknown: the program raises, or packs saved
        tensors itself."""
        written, meant = self.written, self.meant
        if written.failure is not None or meant.failure is not None or meant.own_hooks:
            return ()
        return tuple(gradient_errors(written.outcome, meant.outcome))

    def changed_saves(self) -> tuple[list[ChangedSave], list[CallEvent]]:
        """Return the saved tensors whose values had changed when backward read them, and the calls of that run.

        Raises:
            CompareError: the program cannot be run.
            Repeated: as :meth:`run`.
        """
        observer = watch(lang=language())
        saves: list[Saves] = []

        def on(stack: ExitStack) -> None:
            saves.append(stack.enter_context(saves_compared(lambda: observer.recorded)))

        with self._runner({}, on) as runner:
            again = watched(runner, observer, cells=self._staged.cells)
            return list(saves[0].changed.values()), again.calls

    def matters(self, numbers: Collection[int]) -> bool:
        """True if the gradients change when backward gets the original values of these saved tensors.

        Args:
            numbers: numbers of the saved tensors, in the order of saving.
        """
        with self._runner({}, lambda stack: stack.enter_context(saves_compared(copied=numbers))) as runner:
            outcome, failure = runner.outcome(taken=True, brief=True)
        return failure is None and bool(gradient_errors(self.written.outcome, outcome))

    @cached_property
    def first_loss(self) -> Any:
        """Return the loss of the first backward, computed without autograd, so that nothing is refused; None if
        unknown."""
        with self._runner({}) as runner:
            return runner.first_roots()

    def slope(self, changes: Changes) -> Slope | None:
        """Return the slope of the changed program's loss, by its gradients and by finite differences; None if unknown.

        Raises:
            CompareError: the program cannot be run.
            Repeated: as :meth:`run`.
        """
        with self._runner(changes) as runner:
            return slope_of(runner)

    @cached_property
    def meant_slope(self) -> Slope | None:
        """Return the slope of the program as written, with copies of everything that autograd saves. The two slopes
        disagree if the program does not mean the derivative, as with ``detach()``."""
        with self._runner({}, lambda stack: stack.enter_context(saved_values_copied())) as runner:
            return slope_of(runner)

    @property
    def lines(self) -> Iterator[str]:
        """Return the known lines of the program."""
        for lines in (self._trace.source, *(text.lines for text in self._trace.sources)):
            yield from lines

    def changes(self, diffs: Iterable[str]) -> Changes:
        """Return the changes of some diffs.

        Raises:
            CompareError: a diff does not match the lines.
        """
        found = by_text(self._trace, diffs)
        if found is None:
            raise CompareError(_("The lines that the fix changes are not known, or no longer what ran."))
        return found

    def run(self, changes: Changes, *, copied: bool = False, brief: bool = True) -> Ran:
        """Run the program with changes and return its outcome.

        Args:
            brief: keep only digests of tensors other than gradients, so that no run leaves a copy behind.

        Raises:
            CompareError: it cannot be run.
            Repeated: it was about to act outside the copies.
        """
        reaches: list[Reach] = []
        counts: list[Passes] = []
        most = self._most if changes or copied else None

        def on(stack: ExitStack) -> None:
            counts.append(stack.enter_context(backwards_counted(most)))
            if copied:
                reaches.append(stack.enter_context(saved_values_copied()))
                if any(call.was_refused("graph used up") for call in self._trace.calls):  # a second backward
                    stack.enter_context(graphs_kept())

        with self._runner(changes, on) as runner:
            outcome, failure = runner.outcome(taken=True, brief=brief)
        if not counts and failure is not None:  # while its variables were copied, before it began
            raise CompareError(str(failure))
        own = any(reach.own_hooks for reach in reaches)
        return Ran(outcome, failure, own, counts[-1].begun, counts[-1].stopped)

    @property
    def _most(self) -> int | None:
        """Return the most backward passes of a run; None if the program as written runs to its end."""
        return None if self.written.failure is None else self.written.passes + MORE_PASSES

    def watched(self, changes: Changes) -> Report:
        """Return the report of a run with changes.

        Raises:
            CompareError: it cannot be run.
            Repeated: as :meth:`run`.
        """
        most = self._most if changes else None
        with self._runner(changes, lambda stack: stack.enter_context(backwards_counted(most))) as runner:
            return watched(runner, watch(lang=language()), cells=self._staged.cells)

    @contextmanager
    def _runner(self, changes: Changes, on: Callable[[ExitStack], object] | None = None) -> Iterator[Runner]:
        """Return a function that runs the changed program, guarded against acts outside the copies."""

        def around() -> ExitStack:
            stack = ExitStack()
            stack.enter_context(self._staged.quiet())
            stack.enter_context(harmless(allowed=self._allowed))
            if on is not None:
                on(stack)
            return stack

        with self._staged.program(changes) as program:
            runner = Runner(program, None, around)
            if not self._warned and runner.warning:
                print(runner.warning, file=sys.stderr)
            self._warned = True
            if (tick := _each_run.get()) is not None:
                tick()
            yield runner
