"""Of several fixes that are proven the one that costs least, by what a run with each of them makes in memory."""

from __future__ import annotations

from dataclasses import replace

from inplace_magic.analysis.story import story_of
from inplace_magic.errors import CompareError
from inplace_magic.hazards import Hazard
from inplace_magic.hazards.fixes.candidates import candidates
from inplace_magic.proving import words
from inplace_magic.proving.bench import Bench
from inplace_magic.proving.judging import judged
from inplace_magic.record.proofs import Price, Told, proof_of
from inplace_magic.report import Report

_MOST_TRIED = 4
_MOST_PROVEN = 3


def cheapest(bench: Bench, report: Report, hazard: Hazard) -> Hazard:
    """The finding with the cheapest fix that is proven, and the prices of all that were tried. Nothing else is tried
    where its own fix is not proven or makes no copy, where the program is stopped before its end, or where each run
    does something again that cannot be done on copies.

    Raises:
        CompareError: the program cannot be run.
        Repeated: as :meth:`.Bench.run`.
    """
    from inplace_magic.rerun.guard import has_done_anything

    proof = hazard.proof
    if has_done_anything() or proof is None or proof.verdict != "proven" or hazard.price_bytes is None:
        return hazard
    proven = [hazard]
    for number, candidate in enumerate(candidates(story_of(report.trace), hazard)):
        if number >= _MOST_TRIED or len(proven) >= _MOST_PROVEN:
            break
        tried = judged(bench, report, candidate, [candidate.diff])
        if tried.verdict == "proven":
            proven.append(replace(candidate, proof=tried))
    if len(proven) < 2 or any(told.template == words.STOPPED for told in proof.told):
        return hazard
    try:
        priced = [(Price(each.diff, *bench.price(bench.changes([each.diff]))), each) for each in proven]
    except CompareError:  # what is measured runs without the limits of a proof
        return hazard
    priced.sort(key=lambda entry: entry[0].nbytes)  # of equal ones the rule's own stays first
    best = priced[0][1]
    if best.proof is None:
        return hazard
    prices = tuple(price for price, _each in priced)
    told = _told(prices)
    return replace(
        best,
        proof=proof_of("proven", *best.proof.told, told, gradient_errors=best.proof.gradient_errors, prices=prices),
    )


def _told(prices: tuple[Price, ...]) -> Told:
    values = (("count", str(len(prices))), ("nbytes", str(prices[0].nbytes)), ("next", str(prices[1].nbytes)))
    alike = prices[0].nbytes == prices[1].nbytes
    return Told(words.AS_CHEAP, values[:2]) if alike else Told(words.CHEAPEST, values)
