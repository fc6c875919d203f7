"""Runs two variants of one program side by side and makes a :class:`Comparison` of them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from inplace_magic.analysis.memory.ledger import Ledger
from inplace_magic.comparing.comparison import Comparison, Variant
from inplace_magic.errors import CompareError
from inplace_magic.language import _, language, listed, sentences, use_language
from inplace_magic.record.outcomes import Agreement
from inplace_magic.rerun.program import CallProgram, Program, unprinted
from inplace_magic.watching.api import watch
from inplace_magic.watching.on_copies import watched

if TYPE_CHECKING:
    from inplace_magic.rerun.run import Failure, Quiet, Runner

LEAST_REPEATS = 5
MOST_REPEATS = 50
TIME_BUDGET = 2.0
"""Seconds for the repetitions of both variants together, if their number is not given."""

Steps = Callable[[int], Iterable[int]]
"""Makes an iterable over that many repetitions; a progress bar is one."""


def compare(
    first: Callable[..., Any],
    second: Callable[..., Any],
    *,
    inputs: Any = (),
    repeats: int | None = None,
    seed: int | None = None,
    lang: str | None = None,
) -> Comparison:
    """Compare two callables: results and gradients, operations, memory and time.

    Both run several times, on fresh copies of themselves, their inputs and all variables that they read, from the same
    state of all generators. Your own objects, generators and settings are the same afterwards.

    Args:
        first: a function or module.
        second: another one, or the same module with other flags.
        inputs: arguments of both: a tensor, a tuple of positional or a dict of named arguments.
        repeats: timed runs of each, alternating; by default as many as fit into about two seconds, 5 to 50. 0: no
            timing.
        seed: seed of all generators before each run; by default they start from their present state.
        lang: language of the comparison, ``en``, ``zh`` or ``auto``; by default the session's.

    Raises:
        CompareError: one of them is not callable, needs other arguments, or both raise the same error.
        CopyError: a variable that they read cannot be copied; the text names it.
        OptionError: an unknown language.

    Example:
        >>> inplace_magic.compare(block, twin, inputs=image)
    """
    args, kwargs = _arguments(inputs)
    with use_language(lang):
        names = _names((first, second))
        for function, name in zip((first, second), names, strict=True):
            how = _("Give its arguments as `inputs=(x, ...)` or `inputs={'x': x}`.")
            check_callable(function, name, args, kwargs, how)
        programs = [CallProgram(name, f, args, kwargs) for f, name in zip((first, second), names, strict=True)]
        result, failures = run_comparison(programs[0], programs[1], repeats=repeats, seed=seed)
        if len(failures) == 2:
            text = _("Both raise: {error}. There is nothing to compare.").format(error=result.first.error)
            raise CompareError(text) from failures[0].error
    return result


def run_comparison(
    first: Program,
    second: Program,
    *,
    flip: bool = False,
    repeats: int | None = None,
    seed: int | None = None,
    quiet: Quiet | None = None,
    steps: Steps = range,
) -> tuple[Comparison, list[Failure]]:
    """Measure two programs; see :func:`compare`.

    Args:
        first: one program.
        second: the other.
        flip: set all ``inplace`` flags to False in the first and to True in the second.
        repeats: timed runs of each; None: as many as fit.
        seed: seeds all generators before each run.
        quiet: hide output of the programs.
        steps: counter of the repetitions.

    Returns:
        The comparison, and the exceptions of the variants.

    Raises:
        CompareError: `flip` was asked for, and no module with such a flag ran.
        CopyError: a variable that they read cannot be copied.
    """
    from inplace_magic.rerun.outcome import compare as compare_outcomes
    from inplace_magic.rerun.run import Runner

    quiet = quiet or unprinted
    flags = (False, True) if flip else (None, None)
    runners = [Runner(program, flag, quiet, seed) for program, flag in zip((first, second), flags, strict=True)]
    outcomes = [runner.outcome() for runner in runners]
    flipped = tuple(sorted({**runners[0].flags, **runners[1].flags}.items()))
    failures = [failure for _left, failure in outcomes if failure is not None]
    if flip and not flipped and not failures:
        raise CompareError(_("No module with an `inplace` flag ran, so there is nothing to flip."))
    agreement = None if failures else compare_outcomes(outcomes[0][0], outcomes[1][0])
    variants = [_measured(runner, failure) for runner, (_left, failure) in zip(runners, outcomes, strict=True)]
    del outcomes
    if not failures and repeats != 0:
        times = _times(runners, repeats, steps)
        variants = [replace(variant, seconds=seconds) for variant, seconds in zip(variants, times, strict=True)]
    notes = tuple(_notes(agreement, variants))
    return Comparison(variants[0], variants[1], agreement, flipped, notes, language()), failures


def _measured(runner: Runner, failure: Failure | None) -> Variant:
    report = watched(runner, _observer(), backward=failure is not None and failure.backward)
    name = runner.program.name
    if failure is not None and not failure.backward:
        return Variant(name, error=str(failure), findings=tuple(report.hazards))
    counts = None
    fault = ""
    try:
        counts = runner.counts()
    except Exception as error:  # a boundary: the program ran without the counter, so this is the counter's fault
        fault = _("Its compute could not be counted ({error}).").format(error=f"{type(error).__name__}: {error}")
    plain = watched(runner, _observer()) if failure is not None else report
    ledger = Ledger(plain.trace)
    memory = [row for row in ledger.by_call if not row.workspace]
    return Variant(
        name,
        error=str(failure) if failure is not None else None,
        in_backward=failure is not None,
        findings=tuple(report.hazards),
        parameters=counts.parameter_count if counts is not None else None,
        costs=counts.rows() if counts is not None else None,
        uncounted=tuple(sorted(counts.uncounted.items())) if counts is not None else (),
        fault=fault,
        allocations=sum(len(row.made) for row in memory),
        allocated_bytes=sum(row.allocated_bytes for row in memory),
        peak_bytes=ledger.most_alive,
        saved_bytes=sum(row.saved_bytes for row in memory),
        saved_is_least=any(node.does("writes a part") for node in plain.trace.nodes)
        or any(saved.hooked for saved in plain.trace.saved),
    )


def _observer() -> watch:
    return watch(level="ops", max_values=0)


def _times(runners: list[Runner], repeats: int | None, steps: Steps) -> list[tuple[float, ...]]:
    """Seconds of each repetition, the variants in turns, the one that begins changing each time."""
    if repeats is None:
        once = sum(runner.seconds() for runner in runners)
        repeats = max(LEAST_REPEATS, min(MOST_REPEATS, int(TIME_BUDGET / max(once, 1e-9))))
    taken: list[list[float]] = [[] for _ in runners]
    for step in steps(repeats):
        order = (0, 1) if step % 2 == 0 else (1, 0)
        for which in order:
            taken[which].append(runners[which].seconds())
    return [tuple(each) for each in taken]


def _notes(agreement: Agreement | None, variants: list[Variant]) -> Iterator[str]:
    if agreement is not None and agreement.gradients_of == "the result":
        yield _(
            "The code ran no backward. The compared gradients are those of its result, weighted by fixed numbers "
            "between 0.5 and 1.5; memory, compute and time are without that backward."
        )
    for variant, names in zip(variants, agreement.only if agreement is not None else (), strict=False):
        if names:
            text = _("Only `{variant}` left {names}; not compared.")
            yield text.format(variant=variant.name, names=_first_names(names, 5))
    for variant in variants:
        if variant.fault:
            yield _("`{variant}`: {fault}").format(variant=variant.name, fault=variant.fault)
    if any(variant.saved_is_least for variant in variants):
        yield _(
            "`≥`: autograd keeps at least that. What an in-place write to a view (`CopySlices`) or saved-tensor hooks "
            "keep cannot be seen."
        )
    uncounted = {name: count for variant in variants for name, count in variant.uncounted}
    if uncounted:
        text = _("Not counted in MACs or element operations: {operators}.")
        yield text.format(operators=_first_names(sorted(uncounted), 8))


def _first_names(names: Sequence[str], most: int) -> str:
    return listed((*(f"`{name}`" for name in names[:most]), *(("…",) if len(names) > most else ())))


def _arguments(inputs: Any) -> tuple[tuple[Any, ...], Mapping[str, Any]]:
    if isinstance(inputs, Mapping):
        return (), dict(inputs)
    return (tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,)), {}


def _names(functions: tuple[Any, Any]) -> tuple[str, str]:
    names = [getattr(function, "__name__", type(function).__name__) for function in functions]
    return (names[0], names[1]) if names[0] != names[1] else (f"first {names[0]}", f"second {names[1]}")


def check_callable(function: Any, name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any], how: str) -> None:
    """Return whether a variant can be called with some arguments.

    Raises:
        CompareError: it is not callable, or needs other arguments; `how` says how to give them.
    """
    if not callable(function):
        text = _("`{name}` is no callable but an object of type {type}.")
        raise CompareError(text.format(name=name, type=type(function).__name__))
    try:
        signature = inspect.signature(getattr(function, "forward", function))
    except (TypeError, ValueError):  # built-in functions have none; calling it will tell
        return
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        text = _("`{name}` cannot be called so: {error}.").format(name=name, error=error)
        raise CompareError(sentences(text, how)) from None
