"""The verdict: a tick for what was seen, and never for what was not."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest
import torch
from builders import sigmoid_trace

import inplace_magic
from inplace_magic.record.blindness import (
    INSIDE_CALLS,
    OTHER_THREADS,
    PROCESSES,
    RAN_UNSEEN,
    SENTENCES,
    THREADS,
    unseen_work,
)
from inplace_magic.record.trace import Trace
from inplace_magic.report import Report

CALLS = tuple(call for call in sigmoid_trace().calls if call.error is None)
SEEN = "6 torch calls, 1 of them in-place"


@pytest.mark.parametrize(
    ("blindness", "verdict"),
    [
        ((OTHER_THREADS, INSIDE_CALLS), f"✓ Nothing wrong found: {SEEN}."),
        (
            (INSIDE_CALLS, THREADS.format(count=2)),
            f"✓ Nothing wrong found in what was seen: {SEEN}. Not seen: 2 other threads.",
        ),
        (
            (THREADS.format(count=1), PROCESSES.format(count=3)),
            f"✓ Nothing wrong found in what was seen: {SEEN}. Not seen: 1 other thread, 3 processes.",
        ),
    ],
)
def test_what_ran_unseen_stands_in_the_verdict_and_what_every_watch_misses_does_not(
    blindness: tuple[str, ...], verdict: str
) -> None:
    report = Report(replace(sigmoid_trace(), calls=CALLS, blindness=blindness))
    assert report.verdict == verdict
    assert verdict[2:] in report.to_text()
    assert verdict[2:] in report.to_html(graph=False)


@pytest.mark.parametrize(
    ("blindness", "verdict"),
    [
        ((OTHER_THREADS,), "• Nothing was judged: no torch call was seen."),
        (
            (OTHER_THREADS, PROCESSES.format(count=2)),
            "• Nothing was judged: no torch call was seen; the work may have run in 2 processes.",
        ),
    ],
)
def test_where_no_call_was_seen_there_is_no_tick(blindness: tuple[str, ...], verdict: str) -> None:
    report = Report(Trace(blindness=blindness))
    assert report.verdict == verdict
    assert "✓" not in report.to_text() + report.to_html(graph=False)


def test_a_block_whose_work_ran_in_a_thread_has_no_tick() -> None:
    def work() -> None:
        x = torch.ones(2, requires_grad=True)
        y = torch.sigmoid(x)
        y.mul_(2)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            y.sum().backward()

    with inplace_magic.watch() as watched:
        worker = threading.Thread(target=work)
        worker.start()
        worker.join()
    assert watched.report is not None
    assert watched.report.verdict == (
        "• Nothing was judged: no torch call was seen; the work may have run in 1 other thread."
    )


def test_every_sentence_that_takes_part_in_a_verdict_is_one_that_can_be_told_again() -> None:
    assert set(RAN_UNSEEN) <= set(SENTENCES)
    assert unseen_work(("Something that nobody knows.", OTHER_THREADS)) == ()
