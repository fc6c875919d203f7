"""The report in one sentence: the worst finding, what stopped the code, or that nothing wrong was found."""

from __future__ import annotations

from inplace_magic.analysis.effects import count_writes
from inplace_magic.hazards import Hazard
from inplace_magic.language import _, listed, ngettext
from inplace_magic.record.blindness import unseen_work
from inplace_magic.record.trace import Trace
from inplace_magic.render import lettering, words
from inplace_magic.render.reading import in_its_language
from inplace_magic.render.style import FINE_SYMBOL, SEVERITY_SYMBOL
from inplace_magic.report import Report


@in_its_language
def verdict(report: Report) -> str:
    """Return one sentence with a symbol: the worst finding, else what the code raised, else that nothing wrong was
    found."""
    return lettering.printable(_verdict(report))


def _verdict(report: Report) -> str:
    serious = [finding for finding in report.findings if finding.is_alarm]
    if serious:
        said = headline(serious[0], report.trace)
        if more := len(serious) - 1:
            text = ngettext(
                "{headline} ({count} more finding below.)", "{headline} ({count} more findings below.)", more
            )
            said = text.format(headline=said, count=more)
        return f"{SEVERITY_SYMBOL[serious[0].severity]} {said}"
    if report.trace.error is not None:
        return _stopped(report, report.trace.error)
    symbol = FINE_SYMBOL if report.trace.calls else SEVERITY_SYMBOL["info"]
    return f"{symbol} {_fine(report)}"


def _counted(report: Report) -> str:
    calls = report.trace.calls
    if not calls:
        return _("no torch call was seen")
    ran = report.trace.ran
    said = ngettext("{count} torch call", "{count} torch calls", ran).format(count=f"{ran:,}")
    if light := ran - report.trace.discarded - len(calls):
        said = _("{calls}, {light} of them only counted").format(calls=said, light=f"{light:,}")
    if report.trace.discarded:
        return _("{calls}, {kept} of them kept").format(calls=said, kept=f"{len(calls):,}")
    own, others = count_writes([call for call in calls if call.error is None])
    if others:
        text = _("{calls}, in-place: {count} by your lines, {others} inside layers, initialisation and optimizers")
    else:
        text = _("{calls}, {count} of them in-place") if own else _("{calls}, none of them in-place")
    return text.format(calls=said, count=own or _("none"), others=others)


def _fine(report: Report) -> str:
    calls = report.trace.calls
    if report.trace.level == "writes" and not calls:
        return _("Nothing was judged: level `writes` only names the writer when a backward fails.")
    unseen = listed(unseen_work(report.trace.blindness))
    said = _counted(report)
    if raised := sum(call.error is not None for call in calls):
        text = _("{said}, {count} raised an error")  # of several cells one can have ended with it
        if report.trace.cell is not None or all(call.callsite is None or call.callsite.cell is None for call in calls):
            text = _("{said}, {count} raised an error that the code caught")
        said = text.format(said=said, count=raised)
    if notes := len(report.findings):
        text = ngettext("{said}; {count} note below", "{said}; {count} notes below", notes)
        said = text.format(said=said, count=notes)
    if report.trace.faults:
        said = _("{said}; a part of this report failed, see below").format(said=said)
    if not calls:
        text = _("Nothing was judged: {said}.")
        if unseen:
            text = _("Nothing was judged: {said}; the work may have run in {unseen}.")
    elif unseen:
        text = _("Nothing wrong found in what was seen: {said}. Not seen: {unseen}.")
        if report.trace.discarded:
            text = _("{said}; nothing wrong found in those. Not seen: {unseen}.")
    else:
        text = _("Nothing wrong found: {said}.")
        if report.trace.discarded:
            text = _("{said}; nothing wrong found in those.")
    return text.format(said=said, unseen=unseen)


def is_unexplained(report: Report) -> bool:
    """True if autograd refused what the block did, and no finding tells why. Any other error is none of ours."""
    trace = report.trace
    return trace.error is not None and (
        trace.refusal is not None or any(call.refusal is not None and call.error == trace.error for call in trace.calls)
    )


def _stopped(report: Report, error: str) -> str:
    """What stopped the block: an error that no rule explains; else an interrupt, a NameError, sizes that do not fit,
    and what it had done."""
    call = next((call for call in reversed(report.trace.calls) if call.error == error), None)
    kind, unexplained = error.split(":", 1)[0], is_unexplained(report)
    if kind == "KeyboardInterrupt":
        text = _("The watched code was interrupted. Until then: {done}.")
    elif kind == "SIGTERM":
        text = _("The watched code was stopped by SIGTERM. Until then: {done}.")
    elif call is None and unexplained:
        text = _("The watched code raised `{error}`; no rule of inplace_magic explains it.")
    elif call is None:
        text = _("The watched code raised `{error}`. Until then: {done}.")
    elif unexplained:
        text = _("`{call}` ({place}) raised `{error}`; no rule of inplace_magic explains it.")
    else:
        text = _("`{call}` ({place}) raised `{error}`. Until then: {done}.")
    place, name = (words.place(call.callsite), call.name) if call is not None else ("", "")
    told = text.format(error=kind, done=_counted(report), call=name, place=place)
    return f"{SEVERITY_SYMBOL['error' if unexplained else 'info']} {told}"


def headline(finding: Hazard, trace: Trace) -> str:
    """Return the finding in one sentence; a line of the watched cell is named without the cell."""
    if finding.saved is None or finding.mutation is None or finding.severity != "error":
        return lettering.first_sentence(finding.message)
    who = f"`{finding.variable}`" if finding.variable else f"T{finding.tensor}" if finding.tensor else _("A tensor")
    text = _(
        "{tensor} was overwritten ({write}) after it had been saved for backward ({save}), so backward will raise an "
        "error."
    )
    if finding.raised:
        text = _(
            "{tensor} was overwritten ({write}) after it had been saved for backward ({save}), so backward raised an "
            "error."
        )
    write, save = (words.short_place(site, trace) for site in (finding.mutation, finding.saved))
    return text.format(tensor=who, write=write, save=save)
