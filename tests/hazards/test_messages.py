"""What a finding says, of each first and further program: short, whole sentences, in the
user's own names."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hazards.running import watched
from programs import packed

from inplace_magic.capture.torch import unpacking
from inplace_magic.hazards import Hazard
from inplace_magic.record.places import Callsite

MOST_WORDS = 120
UNSEEN_BY_UNPACKING = {"custom_function_input_changed_later", "checkpointed_input_written_after_forward"}


def programs() -> list[Any]:
    """Every program in which there is something to be found."""
    return [
        pytest.param(case["case"], packed.source_of(programs, case["case"]), id=case["case"])
        for programs in (packed.FIRST, packed.FURTHER)
        for case in packed.cases_in(programs)
        if case["symptom"] != "harmless"
    ]


@pytest.mark.parametrize(("name", "source"), programs())
def test_a_finding_is_told_shortly_in_whole_sentences_and_in_the_users_names(
    tmp_path: Path, name: str, source: str
) -> None:
    if unpacking.NEEDED and name in UNSEEN_BY_UNPACKING:
        pytest.skip("this PyTorch does not show who saved the tensor, so neither its name nor its line is known")
    ran = watched(tmp_path, source)
    for hazard in ran.report.hazards:
        assert complaints(hazard) == [], f"{hazard.message}\n{hazard.fix}"


def complaints(hazard: Hazard) -> list[str]:
    """What is wrong with the wording of a finding."""
    wrong = []
    if len(hazard.message.split()) > MOST_WORDS:
        wrong.append("the message is too long")
    for text in (hazard.message, hazard.fix):
        if re.search(r"`None`|\bNone\b(?=[ .,;])", re.sub(r"`[^`]{5,}`", "`code`", text)):
            wrong.append("None is shown")
        if re.search(r"\ba tensor an?\b", text, re.IGNORECASE):
            wrong.append("two articles")
        if "  " in text or "\n" in text:
            wrong.append("spaces")
        if not text.endswith("."):
            wrong.append("no full stop")
        if not (text[0].isupper() or text[0] == "`"):
            wrong.append("a sentence begins with a small letter")
        if text.count("`") % 2:
            wrong.append("an open backtick")
        if any(f"{mark}{mark}" in re.sub(r"`[^`]*`", "", text) for mark in ".,;:"):
            wrong.append("a doubled mark")
    if hazard.variable != "" and not names_the_place(hazard):
        wrong.append("the first sentence names neither the variable nor the line")
    return wrong


def names_the_place(hazard: Hazard) -> bool:
    """Whether the first sentence has the user's variable or the line."""
    # A sentence ends at a full stop outside code; code has full stops of its own.
    pieces = re.split(r"(`[^`]*`)", hazard.message)
    first = ""
    for piece in pieces:
        if not piece.startswith("`") and re.search(r"\.( |$)", piece):
            first += re.split(r"\.(?: |$)", piece)[0]
            break
        first += piece
    wanted = [f"`{hazard.variable}`"] if hazard.variable else []
    wanted += [site.place for site in (hazard.mutation, hazard.saved) if isinstance(site, Callsite)]
    return any(text in first for text in wanted)


@pytest.mark.parametrize(
    ("message", "complaint"),
    [
        ("`x` was overwritten " + "very " * MOST_WORDS + "often.", "the message is too long"),
        ("`x` was overwritten by `None`.", "None is shown"),
        ("`x` was overwritten, A tensor a call wrote.", "two articles"),
        ("`x`  was overwritten.", "spaces"),
        ("`x` was overwritten", "no full stop"),
        ("x was overwritten.", "a sentence begins with a small letter"),
        ("Something happened to `x.y` and so on. Then `x` was overwritten.", "the first sentence names neither"),
        ("`x` was `overwritten.", "an open backtick"),
        ("`x` was overwritten;; PyTorch raised.", "a doubled mark"),
    ],
)
def test_this_file_sees_what_is_wrong_with_a_text(message: str, complaint: str) -> None:
    hazard = Hazard("some-code", "error", message, "Write into a copy.", variable="x")
    assert [found for found in complaints(hazard) if found.startswith(complaint)], complaints(hazard)


def test_a_good_text_is_let_through() -> None:
    message = "`x` was overwritten by `x[None] = 1.0` (line 3). PyTorch raised, with `self.a.b` in its text."
    assert complaints(Hazard("some-code", "error", message, "Write into a copy.", variable="x")) == []
