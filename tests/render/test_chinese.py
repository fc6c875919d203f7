"""A report in Chinese says all of it in Chinese, and the same facts, on every surface and for programs of people."""

from __future__ import annotations

import html
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from typing import Any

import pytest
from programs import score

from inplace_magic.hazards import Hazard
from inplace_magic.hazards.all_rules import page_of
from inplace_magic.report import Report
from inplace_magic.widgets.report_widget import LiveView

PROGRAMS = score.packed.FIRST
NAMES = sorted(case["case"] for case in score.cases_in(PROGRAMS))
ENGLISH = re.compile(r"(?<![\w.`])[A-Za-z']{2,}(?: [A-Za-z']{2,})+(?![\w.(`])")
"""Two English words or more; in Chinese text only what the program itself says looks so."""
CHINESE = re.compile(r"[\u4e00-\u9fff]")
NOT_TRANSLATED = {"grad_fn", "id", "data_ptr", "dtype", ""}
"""Headings that are names in PyTorch."""


def _reports(shell: Any, name: str) -> tuple[Report, Report]:
    source = score.source_of(PROGRAMS, name)
    _error, _wrong, namespace = score.outcome(shell, f"%%inplace_watch --out report\n{source}")
    english: Report = namespace["report"]
    return english, english.in_language("zh")


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from _strings(part)
    elif isinstance(value, list):
        for part in value:
            yield from _strings(part)


def _visible(markup: str) -> str:
    """The words of a page or a picture, each element's on lines of their own."""
    markup = re.sub(r"<(script|style)\b.*?</\1>", "", markup, flags=re.DOTALL)
    alts = re.findall(r' (?:alt|aria-label|title)="([^"]*)"', markup)
    return html.unescape("\n".join([*alts, re.sub(r"<[^>]*>", "\n", markup)]))


def _leaves(texts: dict[str, str], own: str) -> list[tuple[str, str]]:
    """What is English in some texts and not the program's own words."""
    return [(where, run[0]) for where, text in texts.items() for run in ENGLISH.finditer(text) if run[0] not in own]


@pytest.mark.parametrize("name", NAMES)
def test_a_report_in_chinese_has_no_english_words_left_and_the_same_facts(loaded_shell: Any, name: str) -> None:
    english, chinese = _reports(loaded_shell, name)
    state = LiveView(chinese).state()
    pictures = {key: state.pop(key) or "" for key in ("svg", "timeline")}
    state.pop("css")
    page = chinese.to_html()
    texts = {
        "text": chinese.to_text(),
        "page": _visible(page),
        "state": "\n".join(_strings(state)),
        **{key: _visible(picture) for key, picture in pictures.items()},
    }
    errors = [call.error or "" for call in english.calls] + [english.trace.error or ""]
    rules = [page_of(finding.code) or "" for finding in english.hazards]  # the programs that a code unfolds
    own = " ".join("\n".join((*english.trace.source, *errors, *rules, "Cell In[1]", "--level ops")).split())
    assert _leaves(texts, own) == []
    for heading in re.findall(r"<th\b[^>]*>(.*?)</th>|<summary\b[^>]*>(.*?)</summary>", page):
        words = _visible("".join(heading)).strip()
        assert CHINESE.search(words) or words in NOT_TRANSLATED, words
    assert all(CHINESE.search(words) for words in state["words"].values())
    assert [_facts(finding) for finding in chinese.hazards] == [_facts(finding) for finding in english.hazards]


def _facts(finding: Hazard) -> tuple[object, ...]:
    """What a finding says in any language: the code and the numbers in its words, and all that is no words."""
    told = f"{finding.message}\n{finding.fix}"
    return (
        *(finding.code, finding.severity, finding.raised, finding.variable, finding.tensor, finding.diff),
        *(finding.mutation, finding.mutations, finding.saved, finding.saved_by, finding.read, finding.origin),
        *(finding.expected_version, finding.found_version),
        sorted(set(re.findall(r"`([^`]+)`", told))),
        sorted(set(re.findall(r"(?<!\w)\d+(?!\w)", told))),
    )


def test_english_that_is_left_would_be_seen() -> None:
    said = _leaves({"page": "新建\ncreated by torch.sigmoid\nview of T1\nprobs = torch.sigmoid(logits)"}, "")
    assert said == [("page", "created by"), ("page", "view of")]


SVG = "{http://www.w3.org/2000/svg}"
CHINESE_NAME = "这里有一个很长很长的变量名字用来检查方框是否足够宽"
WRITTEN = f"""\
import torch
{CHINESE_NAME} = 1.0
y = torch.ones(2, requires_grad=True).sigmoid()
y[0] = {CHINESE_NAME}
y.sum().backward()
"""


def test_a_box_is_as_wide_as_the_chinese_letters_in_it(loaded_shell: Any) -> None:
    _error, _wrong, namespace = score.outcome(loaded_shell, f"%%inplace_watch --out report\n{WRITTEN}")
    report: Report = namespace["report"]
    svg = ElementTree.fromstring(report.in_language("zh").to_svg())
    seen = 0
    for group in svg.iter(f"{SVG}g"):
        boxes = [float(box.get("width", "0")) for box in group.iter(f"{SVG}rect")]
        boxes += [float(side) for box in group.iter(f"{SVG}path") for side in re.findall(r"h(\d+)v", box.get("d", ""))]
        for text in group.iter(f"{SVG}text") if boxes else ():
            said = text.text or ""
            wide = len(CHINESE.findall(said))
            em = wide + 0.4 * (len(said) - wide)
            assert em * float(text.get("font-size", "11")) < max(boxes), said
            assert said == said.strip()
            seen += CHINESE_NAME in said
    assert seen
