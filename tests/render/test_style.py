"""Colours and symbols."""

from __future__ import annotations

import re

import pytest

from inplace_magic.hazards import SEVERITIES
from inplace_magic.render import style
from inplace_magic.render.style import style_sheet


def luminance(colour: str) -> float:
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


PAIRS = [
    *((ink, tint) for _, ink, tint in [*style.SEVERITY_COLOURS.values(), style.FINE_COLOURS]),
    *((ink, style.CARD) for _, ink, _ in [*style.SEVERITY_COLOURS.values(), style.FINE_COLOURS]),
    *((ink, ground) for ink in (style.INK, style.MUTED_INK) for ground in (style.CARD, style.ZEBRA)),
    *((style.INK, tint) for _, _, tint in style.SEVERITY_COLOURS.values()),
]


@pytest.mark.parametrize(("ink", "ground"), PAIRS)
def test_text_can_be_read_on_its_ground(ink, ground):
    assert contrast(ink, ground) >= 4.5


MARKS = [style.ORANGE, style.GREEN, style.BLUE, style.VERMILION, style.PURPLE]


@pytest.mark.parametrize(("ink", "ground"), PAIRS)
def test_text_can_be_read_on_its_ground_in_a_dark_theme(ink, ground):
    assert contrast(style.DARK[ink], style.DARK[ground]) >= 4.5


@pytest.mark.parametrize("mark", MARKS)
def test_marks_can_be_seen_in_a_dark_theme(mark):
    assert contrast(style.DARK[mark], style.DARK[style.CARD]) >= 3


def test_every_colour_that_the_live_view_uses_has_a_dark_twin():
    used = set(re.findall(r"var\(--im-([0-9A-F]{6})", style_sheet()))

    assert {f"#{name}" for name in used} <= set(style.DARK)


def test_every_severity_has_a_symbol_and_a_word_of_its_own():
    assert set(style.SEVERITY_SYMBOL) == set(style.SEVERITY_WORD) == set(style.SEVERITY_COLOURS) == set(SEVERITIES)
    assert len({*style.SEVERITY_SYMBOL.values(), style.FINE_SYMBOL}) == len(SEVERITIES) + 1
