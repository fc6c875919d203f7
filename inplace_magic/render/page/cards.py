"""The top of the page: the verdict, and a card for each finding with the guilty line first to be seen."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from itertools import takewhile

from inplace_magic.hazards import Hazard
from inplace_magic.hazards.all_rules import page_of
from inplace_magic.language import LANGUAGES, N_, _, language, ngettext, sentences
from inplace_magic.render import fixes, lettering, style, words
from inplace_magic.render.excerpt import excerpts, listing
from inplace_magic.render.markup import CODE, code, details, esc, fix_bar, note, prose, tag, verdict_bar
from inplace_magic.render.reading import Reading
from inplace_magic.render.verdict import headline, is_unexplained
from inplace_magic.report import Report

PROGRAMS = {"Bad::": N_("Bad"), "Good::": N_("Good")}
"""What stands above a program in a rule's page, and here."""
_CODE = f"background:{style.ZEBRA};color:{style.INK};padding:4px 8px;margin:4px 0;overflow-x:auto"


def rule_page(code: str) -> str:
    """What the rule finds in one sentence, a bad and a good program, from its page; empty of a code that has none.

    The reason stands in the finding's own message. When the rule is silent and what it is told by is in the site.
    The sentence is in English, so a report in another language has the programs alone.
    """
    text = page_of(code)
    if text is None:
        return ""
    headline, *blocks = text.split("\n\n")
    sentence = " ".join(headline.replace("``", "`").split())
    parts = [tag("div", "", prose(sentence))] if language() == LANGUAGES[0] else []
    for mark, name in PROGRAMS.items():
        program = takewhile(lambda block: block.startswith("    "), blocks[blocks.index(mark) + 1 :])
        lines = textwrap.dedent("\n\n".join(program)).split("\n")
        parts += [tag("b", "", esc(_(name))), tag("pre", _CODE, "\n".join(map(esc, lines)))]
    return "".join(parts)


FEW_CARDS = 8
"""Findings with a card of their own, the worst ones; each further one is a line, since many are most often alike."""
MANY_CARDS = 30
"""The same on a page of its own."""
MAX_HEADLINE = 300
"""Characters of such a line."""
MAX_LINES = 30
"""More findings than cards and so many lines are counted."""

_LINK = "text-decoration:underline;cursor:pointer"


def verdict_of(reading: Reading) -> str:
    """Return the verdict, in the colours of the worst finding."""
    report = reading.report
    serious = [finding for finding in report.findings if finding.is_alarm]
    if serious:
        return verdict_bar(style.SEVERITY_COLOURS[serious[0].severity], reading.verdict)
    if is_unexplained(report):
        return verdict_bar(style.SEVERITY_COLOURS["error"], reading.verdict)
    judged = report.trace.calls and report.trace.error is None
    return verdict_bar(style.FINE_COLOURS if judged else style.SEVERITY_COLOURS["info"], reading.verdict)


def finding_cards(report: Report, *, most: int = FEW_CARDS, told: bool = False) -> str:
    """Return the findings, worst first; notes are folded.

    Args:
        told: they were shown before, so they are folded as well.
    """
    serious = [finding for finding in report.findings if finding.is_alarm]
    notes = [finding for finding in report.findings if not finding.is_alarm]
    shown = _cards(serious, report, most, _("{count} more findings: {code}."))
    if told and serious:
        count = len(serious)
        title = ngettext("{count} finding, shown before", "{count} findings, shown before", count)
        shown = details(title.format(count=count), shown, opened=False)
    if not notes:
        return shown
    folded = _cards(notes, report, most, _("{count} more notes: {code}."))
    title = _("Notes ({count})").format(count=len(notes))
    return shown + details(title, folded, opened=not serious and len(notes) <= 3)


def _cards(findings: Sequence[Hazard], report: Report, most: int, more: str) -> str:
    firsts = {finding.code: finding for finding in reversed(findings[:most])}  # a code is explained once
    cards = [_card(finding, report, explained=firsts[finding.code] is finding) for finding in findings[:most]]
    lines = [_one_line(finding, report) for finding in findings[most : most + MAX_LINES]]
    left = len(findings) - len(cards) - len(lines)
    code = words.of_report(report, "hazards")
    rest = note(more.format(count=left, code=code)) if left else ""
    return "".join(cards) + (tag("ul", "margin:4px 0 10px", *lines) if lines else "") + rest


def _one_line(finding: Hazard, report: Report) -> str:
    _accent, ink, _tint = style.SEVERITY_COLOURS[finding.severity]
    title = f"{style.SEVERITY_SYMBOL[finding.severity]} {finding.code}{words.times(finding.count)}: "
    said = prose(lettering.shortened(headline(finding, report.trace), MAX_HEADLINE))
    return tag("li", "", tag("b", f"color:{ink}", esc(title)), said)


def _card(finding: Hazard, report: Report, *, explained: bool) -> str:
    accent, ink, _tint = style.SEVERITY_COLOURS[finding.severity]
    title = f"{style.SEVERITY_SYMBOL[finding.severity]} {_(style.SEVERITY_WORD[finding.severity])}"
    count = esc(words.times(finding.count))
    listed = excerpts(finding, report.trace)
    listings = "".join(listing(each, named=len(listed) > 1) for each in listed)
    page = rule_page(finding.code) if explained and report.framework == "torch" else ""  # its programs are torch's
    shown = tag("code", f"{CODE};{_LINK}", esc(finding.code)) if page else code(finding.code)
    source = esc(f" · {listed[0].source}") if len(listed) == 1 else ""
    head = tag("summary" if page else "div", f"color:{ink};font-weight:bold", esc(title), " ", shown, count, source)
    why = tag("div", "margin:4px 0 0", prose(finding.message))
    if page:  # of the finding that is the verdict, the sentences that say it again unfold as well
        told = finding is report.findings[0] and finding.is_alarm and bool(listed)
        head, why = f"<details>{head}{why if told else ''}{page}</details>", "" if told else why
    fix = fix_bar(sentences(finding.fix, fixes.price(finding)))
    css = f"border:1px solid {style.LINE};border-left:4px solid {accent};padding:6px 12px;margin:0 0 6px"
    cure = "".join((fix, fixes.diff_markup(finding.diff, tried=fixes.is_tried(finding)), fixes.proof_markup(finding)))
    if listings:  # beside each other where the live view is and there is room
        two = tag("div", "", tag("div", "", head, listings), tag("div", "", cure), class_="im-two")
        return tag("div", css, two, why)
    return tag("div", css, head, cure, why)
