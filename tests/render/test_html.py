"""The report as HTML."""

from __future__ import annotations

import base64
import re
import urllib.parse
import xml.etree.ElementTree as ET
import zlib
from dataclasses import replace
from typing import Any

import pytest
from builders import sigmoid_report
from render.elements import Elements, to_fragment
from render.samples import HOSTILE, fine_report, hostile_report, long_report
from scripts import script

from inplace_magic.errors import InplaceMagicError
from inplace_magic.render import reading, to_mimebundle
from inplace_magic.render.markup import prose, table
from inplace_magic.render.page import explorer, html
from inplace_magic.render.page.cards import FEW_CARDS, MAX_LINES, finding_cards, rule_page
from inplace_magic.render.page.explorer import unpacked
from inplace_magic.render.page.html import to_page
from inplace_magic.render.page.sections import memory_section
from inplace_magic.render.reading import Reading
from inplace_magic.render.style import theme_script
from inplace_magic.report import Report

SCRIPT = re.compile("<script>(.*?)</script>", re.DOTALL)


def pictures(markup: str) -> list[str]:
    """The SVG inside each ``<img>``."""
    sources = [source for source in Elements(markup).attribute("img", "src") if source is not None]
    assert all(source.startswith("data:image/svg+xml,<svg ") for source in sources)
    return [urllib.parse.unquote(source.split(",", 1)[1]) for source in sources]


def picture(markup: str) -> str:
    """The SVG of the graph."""
    return pictures(markup)[0]


def state_in(markup: str) -> dict[str, Any]:
    """What the live view reads."""
    (state,) = [attributes["data-state"] for _, attributes in Elements(markup).found if "data-state" in attributes]
    assert state is not None
    return unpacked(state)


def test_what_an_untrusted_notebook_drops_carries_nothing():
    page = Elements(to_fragment(sigmoid_report()))

    assert {tag for tag, _ in page.found} <= {
        *("div", "details", "summary", "table", "thead", "tbody", "tr", "th", "td", "ul", "li", "p", "b", "span"),
        *("code", "pre", "img", "script", "a"),
    }
    assert page.open == []
    for word in ("overwritten here", "saved here", "probs[2] = 2.0", "probs = probs.clone()", "SigmoidBackward0"):
        assert word in page.text


def test_styles_hold_only_values_that_jupyterlab_keeps_in_an_untrusted_notebook():
    styles = [attributes.get("style") or "" for _, attributes in Elements(to_fragment(sigmoid_report())).found]

    assert not [css for css in styles if re.search(r"var\(|inherit|anywhere|break-word|!important|url\(", css)]


def test_what_the_theme_of_jupyterlab_sets_on_tables_and_code_is_set_again_here():
    markup = re.sub("<td[^>]*></td>", "", to_fragment(sigmoid_report()))  # an empty cell shows nothing to align
    for tag, attributes in Elements(markup).found:
        if "data-c" in attributes:  # nor does one with a sign alone
            continue
        css = attributes.get("style") or ""
        wanted = {
            "table": ("background", "color", "table-layout", "margin"),
            "tr": ("background",),
            "th": ("text-align",),
            "td": ("text-align",),
            "code": ("background", "color"),
        }
        assert [name for name in wanted.get(tag, ()) if not re.search(rf"(^|;){name}:", css)] == [], (tag, css)


def test_the_reader_meets_the_verdict_then_the_guilty_line_then_the_fix():
    text = Elements(to_fragment(sigmoid_report())).text

    order = [text.index(word) for word in ("✗ probs was overwritten", "overwritten here", "Fix:", "What each line did")]
    assert order == sorted(order)


def test_the_fix_stands_in_its_card_as_a_diff_with_signs_and_price():
    page = Elements(to_fragment(sigmoid_report()))

    assert "-probs[2] = 2.0\n+probs = probs.clone()\n+probs[2] = 2.0" in page.text
    assert "This costs one copy of 32 B." in page.text


def test_the_picture_is_called_autograd_s_only_where_autograd_recorded_something():
    report = sigmoid_report()
    plain = Report(replace(report.trace, nodes=()))

    assert ("Autograd graph" in to_fragment(report), "Autograd graph" in to_fragment(plain)) == (True, False)
    assert "Tensors and calls</summary>" in to_fragment(plain)


def test_the_picture_has_the_finding_as_its_alternative_text():
    (graph,) = Elements(to_fragment(sigmoid_report())).graphs
    alt = graph["alt"]
    assert alt is not None
    assert "`probs` was overwritten (line 6)" in alt


def test_the_picture_in_the_page_is_the_whole_picture_without_titles():
    report = hostile_report()

    shown = pictures(to_fragment(report))[0]

    whole = re.sub("(?<=>)<title>[^<]*</title>", "", report.to_svg())
    assert ET.canonicalize(shown) == ET.canonicalize(whole)


def test_the_script_of_a_page_is_the_same_in_every_page_and_holds_the_live_view():
    scripts = {SCRIPT.search(to_fragment(report))[1] for report in (sigmoid_report(), hostile_report())}  # type: ignore[index]
    (script,) = scripts
    packed = max(re.findall(r'"([^"]*)"', script), key=len)

    assert zlib.decompress(base64.b64decode(packed)).decode() == explorer.live_script()
    assert (
        script.count("script.text =") == script.count("script.text = await unpacked(live)") == 1
    )  # markup never becomes code


def test_raw_addresses_reach_the_picture_only_when_asked_for():
    assert "data_ptr" not in picture(to_fragment(sigmoid_report()))
    assert "data_ptr" in picture(to_fragment(sigmoid_report(), raw=True))


def test_the_tables_tell_id_and_address_and_version_and_grad_fn():
    text = Elements(to_fragment(sigmoid_report())).text

    for word in ("140000000384", hex(94_000_000_256), "v0→v1", "CopySlices", "[2]: 0.3 → 2", "same / same"):
        assert word in text


def test_without_a_graph_there_is_no_picture_and_a_script_for_the_theme_alone():
    markup = to_fragment(sigmoid_report(), graph=False)

    assert Elements(markup).graphs == []
    assert SCRIPT.findall(markup) == [theme_script()]


def test_a_column_that_is_empty_in_every_row_is_left_out():
    shown = table(("Line", "Code", "grad_fn"), [("1", "", ""), ("2", "x", "")])

    assert Elements(shown).text == "LineCode12x"


def test_when_the_graph_cannot_be_drawn_a_sentence_stands_in_its_place(monkeypatch):
    def undrawable(dot_text: str) -> str:
        raise InplaceMagicError("The graph could not be drawn (<reason>).")

    monkeypatch.setattr(html, "to_svg", undrawable)

    markup = to_fragment(sigmoid_report())
    page = Elements(markup)

    assert "The graph could not be drawn (<reason>)." in page.text
    assert page.graphs == []
    assert SCRIPT.findall(markup) == [theme_script()]
    assert "overwritten here" in page.text


def test_a_hostile_report_adds_no_element_and_no_attribute():
    page, model = Elements(to_fragment(hostile_report())), Elements(to_fragment(sigmoid_report()))

    assert {tag for tag, _ in page.found} <= {tag for tag, _ in model.found}
    assert {name for _, attributes in page.found for name in attributes} <= {
        *("style", "class", "scope", "open", "alt", "src", "cellpadding", "tabindex", "data-lm-suppress-shortcuts"),
        *("data-state", "colspan", "title", "data-s", "data-c", "data-k"),
    }
    assert page.open == []
    assert "<script>alert(1)</script>\"onmouseover='x'" in page.text
    assert to_fragment(hostile_report()).count("<script") == 1
    assert HOSTILE.count("<script>") == 1


def test_a_hostile_page_has_a_title_of_text():
    page = to_page(hostile_report())

    assert page.count("<script") == 1
    assert page.encode("utf-8")


def test_the_sigmoid_fragment_is_small_enough_to_live_in_a_notebook():
    assert len(to_fragment(sigmoid_report()).encode()) < 60_000


def test_long_tables_are_cut_with_a_sentence_that_says_how_to_get_the_rest():
    text = Elements(to_fragment(long_report(reading.FEW_ROWS + 16))).text  # of a cut table fewer are shown

    assert "17 more rows not shown; report." in text.replace("`", "")
    assert "19 more rows not shown; report.memory gives all of them." in text.replace("`", "")


@pytest.mark.parametrize(("calls", "budget"), [(1000, 200_000), (5000, 300_000)])
def test_an_output_stays_within_its_budget_of_bytes(calls: int, budget: int):
    report = long_report(calls)

    bundle = to_mimebundle(report)

    assert sum(len(content.encode()) for content in bundle.values()) <= budget
    assert to_mimebundle(report) == bundle


def test_of_many_findings_the_worst_have_cards_others_a_line_and_the_rest_is_counted():
    report = sigmoid_report()

    text = Elements(to_fragment(Report(report.trace, report.findings * 50))).text

    assert text.count("Fix:") == FEW_CARDS
    assert text.count("saved-tensor-overwritten") == FEW_CARDS + MAX_LINES
    assert f"{50 - FEW_CARDS - MAX_LINES} more findings" in text


def test_a_cut_table_of_lines_still_has_the_lines_that_findings_name():
    report = long_report(1000)
    finding = report.findings[0]

    rows = to_fragment(report).split('class="im-lines"')[1].split("</table>")[0].split("</tr>")

    assert len(rows) < 30
    for call in (finding.call, finding.saved_call):
        assert call is not None
        assert [row for row in rows if f">line {call + 2}<" in row and f"t{call + 1} = torch.exp(t{call})" in row]


def test_notes_are_open_where_nothing_is_wrong_and_folded_below_a_finding():
    (finding,) = sigmoid_report().findings
    note = replace(finding, severity="info")
    alone, below = (replace(sigmoid_report(), findings=found) for found in ((note,), (finding, note)))

    assert re.search(r"<details open><summary[^>]*>Notes", finding_cards(alone))
    assert re.search(r"<details(?! open)[^>]*><summary[^>]*>Notes", finding_cards(below))


def test_faults_are_open_to_see():
    report = Report(replace(fine_report().trace, faults=("The rule `x` failed. Please report it.",)))

    assert re.search(r"<details open><summary[^>]*>Faults of inplace_magic", to_fragment(report))
    assert "The rule x failed. Please report it." in Elements(to_fragment(report)).text


def test_the_page_needs_nothing_from_anywhere():
    page = to_page(sigmoid_report())

    assert page.startswith("<!DOCTYPE html>")
    assert not re.findall(r"""(?:src|href)=["'](?!data:)""", page)
    assert not [url for url in re.findall(r"https?://[^\s\"')]+", page) if "www.w3.org" not in url]


def test_the_same_report_gives_the_same_bytes():
    assert to_fragment(sigmoid_report()) == to_fragment(sigmoid_report())


def test_a_code_unfolds_what_it_means_with_a_bad_and_a_good_program_without_a_script():
    markup = to_fragment(sigmoid_report())

    assert markup.count("<pre ") >= 2
    unfolded = markup[markup.index(">saved-tensor-overwritten</code>") :]
    page = Elements(unfolded[unfolded.index("</summary>") + len("</summary>") : unfolded.index("</details>")])
    assert page.text.startswith("probs")  # what happened here, then what it means wherever it happens
    assert "A tensor that autograd saved for backward was overwritten before backward used it." in page.text
    assert "probs[2] = 2.0                  # overwrites it\n" in page.text
    assert page.text.index("Bad") < page.text.index("Good")


def test_sentences_that_say_the_verdict_again_are_folded_and_those_of_other_findings_are_not():
    report = sigmoid_report()
    twice = replace(report, findings=(report.findings[0], replace(report.findings[0], message="Another one.")))

    markup = to_fragment(twice)
    unfolded = re.sub("<details>.*?</details>", "", markup, flags=re.DOTALL)
    first = prose(report.findings[0].message)
    assert (first in markup, first in unfolded) == (True, False)
    assert "Another one." in unfolded


def test_every_code_has_a_page_and_one_that_no_rule_has_is_plain_code():
    found = sigmoid_report()
    for rule in script("docs/make_rules.py").rules():
        page = Elements(rule_page(rule.codes[-1]))
        assert page.open == []
        assert page.text.index("Bad") < page.text.index("Good")
    assert rule_page("no-such-code") == ""
    other = replace(found, findings=tuple(replace(finding, code="no-such-code") for finding in found.findings))
    assert re.findall(r"<(\w+)[^>]*>[^<]*<code[^>]*>no-such-code</code>", to_fragment(other)) == ["div"]


def test_the_page_of_a_code_stands_once_however_many_findings_have_it():
    report = sigmoid_report()
    twice = replace(report, findings=(report.findings[0], replace(report.findings[0], message="Another one.")))

    assert to_fragment(twice).count("A tensor that autograd saved for backward was overwritten") == 1


def test_a_listing_of_one_source_says_which_in_the_cards_head_and_its_fix_may_stand_beside_it():
    page = to_fragment(sigmoid_report())

    assert re.search(r"<summary[^>]*>✗ Error <code[^>]*>saved-tensor-overwritten</code> · Cell In\[7\]</summary>", page)
    assert page.index('class="im-two"') < page.index("Cell In[7]</summary>") < page.index("Fix: ")


def test_memory_says_whose_it_is_in_its_title_and_of_several_devices_in_each_row():
    reading = Reading(sigmoid_report(), rows=20)
    assert "Memory by line (cpu)" in memory_section(reading)
    vars(reading.ledger)["by_line"] = (*reading.memory, replace(reading.memory[0], device="cuda:0"))
    section = memory_section(reading)
    assert "Memory by line (cpu, cuda:0)" in section
    assert ">Device<" in section
    assert section.count(">cpu<") == len(reading.memory) - 1


def test_keys_reach_what_scrolls_by_an_element_that_an_untrusted_notebook_keeps():
    page = to_fragment(sigmoid_report())

    assert set(re.findall(r"<(\w+)[^>]* tabindex=0", page)) == {"a"}
    for scrolled in page.split("<div style=overflow-x:auto>")[1:]:
        assert "<a tabindex=0" in scrolled[: scrolled.index("</table>")]
