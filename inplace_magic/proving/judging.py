"""The verdict on one fix: compare the patched program with the program whose saved values are copied at the save.

A fix may throw a write away: an object held the written tensor, and keeps the old values with the fix. ``for buf in
net.buffers(): buf.copy_(new)`` is to change the network's buffers. With ``buf = buf.clone()`` above the write the
program runs, and no loss of this run need tell that the buffers stay as they were.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from inplace_magic.analysis.story import Story, story_of
from inplace_magic.errors import CompareError
from inplace_magic.hazards import Hazard
from inplace_magic.proving import words
from inplace_magic.proving.bench import MORE_PASSES, Bench, Changes, Ran
from inplace_magic.record.names import Holding
from inplace_magic.record.outcomes import Agreement, GradientError, Proof, Told, proof_of
from inplace_magic.record.paths import before_last_step, without_keys
from inplace_magic.record.places import Callsite
from inplace_magic.report import Report
from inplace_magic.rerun.outcome import compare, is_rounding, same_bits
from inplace_magic.source.hunks import moved, new_lines

MOST_DIFFERENCES = 20
"""Number of differences, and of wrong gradients, that a proof keeps."""


@dataclass(frozen=True, slots=True)
class _Cured:
    """A run with changes and without the finding."""

    ran: Ran
    changes: Changes
    together: bool
    lost_for: str
    """What keeps its old values, since the write goes elsewhere; empty if nothing does."""


def judged(bench: Bench, report: Report, hazard: Hazard, diffs: Sequence[str]) -> Proof:
    """Try the fix of a finding and return its proof.

    Args:
        bench: runs of its program.
        diffs: fixes of all findings; if one alone does not suffice, all are tried together.

    Raises:
        CompareError: the program cannot be run.
    """
    cured = _cured(bench, report, hazard, [hazard.diff], together=False)
    if isinstance(cured, Proof) and len(set(diffs)) > 1:
        jointly = _cured(bench, report, hazard, diffs, together=True)
        cured = jointly if isinstance(jointly, _Cured) else cured
    if isinstance(cured, Proof):
        return cured
    return _compared(bench, hazard, cured, measured(bench, hazard))


def is_worth_showing(proof: Proof) -> bool:
    """True if a candidate may be shown on the evidence of runs alone: it is proven, or every gradient is right although
    a variable differs, or PyTorch refuses the program as written and the loss is the same."""
    alike = says(proof, words.SAME_LOSS, words.SAME_GRADIENTS)
    return proof.verdict == "proven" or (alike and proof.verdict == "other numbers")


def is_contradicted(proof: Proof) -> bool:
    """True if the proof says that the gradients with the fix are not the derivative of its loss."""
    return says(proof, words.NOT_THE_SLOPE, words.NO_SLOPE_MEANT)


def says(proof: Proof, *templates: str) -> bool:
    """True if the proof has one of these sentences."""
    return any(each.template in templates for each in proof.told)


def measured(bench: Bench, hazard: Hazard) -> tuple[GradientError, ...]:
    """Return the errors of the gradients as written, for a silent finding about saved values only."""
    if hazard.severity != "silent" or hazard.saved is None:
        return ()
    return bench.wrong_gradients[:MOST_DIFFERENCES]


def _cured(bench: Bench, report: Report, hazard: Hazard, diffs: Sequence[str], *, together: bool) -> _Cured | Proof:
    try:
        changes = bench.changes(diffs)
        patched = bench.watched(changes)
    except CompareError as refused:
        return proof_of("not tried", words.plain(str(refused)))
    error = patched.trace.error
    if error is not None and (hazard.raised or error != report.trace.error):
        return proof_of("refuted", words.with_error(words.RAISES, error))
    before, after = _keys(report, changes), _keys(patched, {})
    if _keys_of(hazard, changes) & set(after):
        return proof_of("refuted", Told(words.STAYS))
    if error is not None:
        return proof_of("not tried", words.with_error(words.ELSEWHERE, error))
    for key, code in after.items():
        cell, file, line = key[2]
        if key not in before and any(line in lines for lines in new_lines(changes.get((cell, file), []))):
            return proof_of("refuted", Told(words.HARM, (("code", f"`{code}`"),)))
    ran = bench.run(changes)
    if ran.failure is not None:
        return proof_of("refuted", words.with_error(words.RAISES, str(ran.failure)))
    return _Cured(ran, changes, together, _holder_without_the_write(report, hazard, patched, changes))


def _compared(bench: Bench, hazard: Hazard, cured: _Cured, errors: tuple[GradientError, ...]) -> Proof:
    ran, meant = cured.ran, bench.meant
    more = (*((Told(words.TOGETHER),) if cured.together else ()), *words.of_errors(errors))
    if ran.stopped:
        more = (Told(words.STOPPED, (("count", str(MORE_PASSES)),)), *more)
    if meant.failure is not None:
        same = same_bits(bench.first_loss, ran.outcome.roots)
        told = Told(words.SAME_LOSS if same else words.REFUSED)
        more = (*((words.of_lost(cured.lost_for),) if cured.lost_for else ()), *more)
        return _by_slope(bench, cured, (told,), more, gradient_errors=errors)
    lost = [name for group, name in meant.outcome.values if group == "gradient" and name.endswith(".grad")]
    lost = [name for name in lost if ("gradient", name) not in ran.outcome.values]
    if lost:
        names = ", ".join(f"`{words.of_which(name)}`" for name in lost[:5])
        return proof_of("refuted", Told(words.CUT_OFF, (("names", names),)), *more, gradient_errors=errors)
    differences = compare(meant.outcome, ran.outcome).differences
    if not differences and meant.own_hooks:
        return proof_of("not tried", Told(words.OWN_HOOKS), *more)
    if not differences and hazard.severity == "silent" and hazard.saved is None:
        return proof_of("not tried", Told(words.SAME_NUMBERS), *more)  # which are wrong, as the finding says
    if not differences and cured.lost_for:
        return proof_of("other numbers", words.of_lost(cured.lost_for), *more, gradient_errors=errors)
    if not differences:
        return proof_of("proven", Told(words.PROVEN), *more, gradient_errors=errors)
    if not bench.is_deterministic:
        return proof_of("not tried", Told(words.NOT_TWICE), *more, gradient_errors=errors)
    agreement, rounded = _whole_agreement(bench, cured)
    if not agreement.differences:
        return proof_of("not tried", Told(words.NOT_TWICE), *more, gradient_errors=errors)
    told = words.of_differences(agreement.differences, rounded=rounded)
    facts: dict[str, Any] = {"differences": agreement.differences[:MOST_DIFFERENCES], "gradient_errors": errors}
    same_gradients = bool(agreement.count("gradient")) and not agreement.differing("gradient")
    if same_gradients and not meant.own_hooks:
        return proof_of("other numbers", told, Told(words.SAME_GRADIENTS), *more, **facts)
    hooks = (Told(words.OWN_HOOKS),) if meant.own_hooks else ()
    return _by_slope(bench, cured, (told, *hooks), more, **facts)


def _whole_agreement(bench: Bench, cured: _Cured) -> tuple[Agreement, bool]:
    """Compare a run with a fix with the run that its forward means, holding all values meanwhile; and return whether
    all differences are rounding."""
    meant, ran = bench.run({}, copied=True, brief=False).outcome, bench.run(cured.changes, brief=False).outcome
    agreement = compare(meant, ran)
    return agreement, all(is_rounding(meant, ran, difference) for difference in agreement.differences)


_CUTS = re.compile(r"\.(data|grad_fn|detach|item|tolist|numpy)\b|no_grad|inference_mode|set_grad_enabled")
_OWN_GRADIENT = re.compile(r"\bdef (backward|vjp)\b|\.register_\w*hook\b")
"""Words in a text that can make a gradient differ from the derivative of the loss: a cut; a gradient of the program's
own, which stays its own in a line that a fix changes."""


def _by_slope(bench: Bench, cured: _Cured, told: tuple[Told, ...], more: tuple[Told, ...], **facts: Any) -> Proof:
    """Return the proof of a fix with other numbers, by finite differences. Gradients that are not the derivative of the
    loss refute it, unless the program means such gradients, as by its own ``detach()``."""
    slope = bench.slope(cured.changes)
    if slope is None:
        return proof_of("other numbers", *told, *more, **facts)
    if not slope.agrees and _means_others(bench, cured):
        return proof_of("other numbers", *told, Told(words.NO_SLOPE_MEANT), *more, **facts)
    if slope.agrees:
        return proof_of("other numbers", *told, Told(words.SLOPE), *more, **facts)
    slopes = (("gradient", f"{slope.by_gradient:.4g}"), ("difference", f"{slope.by_difference:.4g}"))
    return proof_of("refuted", *told, Told(words.NOT_THE_SLOPE, slopes), *more, **facts)


def _means_others(bench: Bench, cured: _Cured) -> bool:
    """True if the program's own text, not the fix, can make gradients differ from the derivative of the loss, and the
    gradients that its forward means differ as well, as far as known."""
    before = {line.strip() for line in bench.lines}  # what is moved stands there already
    changed = [hunk for hunks in cured.changes.values() for hunk in hunks]
    added = [line for hunk in changed for line in hunk.new if line.strip() not in before]
    own = _counted(_OWN_GRADIENT, added) - _counted(_OWN_GRADIENT, [line for hunk in changed for line in hunk.old])
    if own or any(map(_CUTS.search, added)) or not any(_CUTS.search(e) or _OWN_GRADIENT.search(e) for e in before):
        return False
    return bench.meant_slope is None or not bench.meant_slope.agrees


def _counted(pattern: re.Pattern[str], lines: Iterable[str]) -> Counter[str]:
    return Counter(found.group() for line in lines for found in pattern.finditer(line))


_Line = tuple[int | None, str | None, int]
_Key = tuple[str, str, _Line]


def _keys(report: Report, changes: Changes) -> dict[_Key, str]:
    """Return the alarms of a report, by code and lines, and their codes."""
    found: dict[_Key, str] = {}
    for hazard in report.findings:
        if hazard.is_alarm:
            found.update(dict.fromkeys(_keys_of(hazard, changes), hazard.code))
    return found


def _keys_of(hazard: Hazard, changes: Changes) -> set[_Key]:
    """Return code and lines of a finding, numbered after the changes."""
    places = (("wrote", hazard.mutation), ("saved", hazard.saved))
    known = {(hazard.code, role, _line(site, changes)) for role, site in places if site is not None}
    return known or {(hazard.code, hazard.variable or "", (None, None, 0))}


def _line(site: Callsite, changes: Changes) -> _Line:
    return site.cell, site.file, moved(site.line, changes.get((site.cell, site.file), []))


def _holder_without_the_write(report: Report, hazard: Hazard, patched: Report, changes: Changes) -> str:
    """Return what held the written tensor and has neither the write nor a new tensor with a fix: ``net.scale``; empty
    if nothing is known to. An entry of a list or dict that no object holds counts only if nobody uses the new values.

    Args:
        report: of the program as written.
        hazard: the finding whose fix it is.
        patched: the report of the program with the fix.
        changes: what the fix changes.
    """
    about_saved = hazard.raised or hazard.saved is not None  # else that another holder sees it is the finding
    held = story_of(report.trace).holdings.get(hazard.call, ()) if hazard.call is not None and about_saved else ()
    if not held:
        return ""
    story = story_of(patched.trace)
    written = (each for index, found in story.holdings.items() if story.calls[index].mutations for each in found)
    still = set(map(_slot, written))
    new = [line for hunks in changes.values() for hunk in hunks for line in hunk.new if line not in hunk.old]
    if any(_slot(holding) in still or _binds(line, holding.path) for holding in held for line in ("", *new)):
        return ""
    kept = [each for each in held if "." in without_keys(each.path)]  # an object; a list may be there for a moment
    if not kept and _is_used(story, changes):
        return ""
    return max(kept or held, key=lambda holding: holding.level).path


def _is_used(story: Story, changes: Changes) -> bool:
    """True if what the changed lines made and wrote is read by others, or has a name in the end."""
    new: set[int] = set()
    lines = {whose: new_lines(hunks) for whose, hunks in changes.items()}
    for call in story.trace.calls:
        site = call.callsite
        if site is not None and any(site.line in each for each in lines.get((site.cell, site.file), ())):
            new.update(meta.tensor for meta in (*call.outputs, *call.mutated))
        elif any(meta.tensor in new for meta in call.inputs):
            return True
    return any(entry.tensor in new for entry in story.trace.names)


def _slot(holding: Holding) -> tuple[str, str]:
    """Return the class of an object and its attribute or entry, whatever the function calls the object."""
    return holding.kind, before_last_step(holding.path)[1]


def _binds(line: str, path: str) -> bool:
    """True if a line gives the slot of a path, or what the path goes through, something new: ``self.scale = …``."""
    while path:
        if re.match(rf"\s*{re.escape(path)} = ", line):
            return True
        path, step = before_last_step(path)
        path = path if step else ""
    return False
