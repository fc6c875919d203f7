"""What the live view is told: small, plain, the same each time, and joined to the picture by its keys."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
from builders import sigmoid_report
from render.samples import fine_report, hostile_report, long_report

from inplace_magic.render.page.explorer import MAX_STEPS, script
from inplace_magic.render.style import minified
from inplace_magic.report import Report
from inplace_magic.widgets.report_widget import LiveView


def keys_drawn(svg: str) -> set[str]:
    return set(re.findall(r'<g class="n [^"]*" data-k="([^"]*)"', svg))


@pytest.mark.parametrize("report", [sigmoid_report(), fine_report(), hostile_report(), long_report(1000)])
def test_every_box_of_the_picture_is_told_of_and_every_line_it_names_is_listed(report: Report) -> None:
    state = LiveView(report).state()

    assert set(state["nodes"]) == keys_drawn(state["svg"])
    listed = {(s, number) for s, source in enumerate(state["sources"]) for number, _ in source["lines"]}
    for node in state["nodes"].values():
        assert {tuple(place) for place in node["at"]} <= listed
    assert {key for _, key, _, _ in state["steps"] if key is not None} <= set(state["nodes"])
    assert {key for path in state["paths"] for key in path} <= set(state["nodes"])


def test_the_state_is_plain_json_and_the_same_each_time() -> None:
    state = LiveView(sigmoid_report()).state()

    assert json.loads(json.dumps(state)) == state
    assert json.dumps(LiveView(sigmoid_report()).state()) == json.dumps(state)


def test_a_tensor_tells_its_facts_and_the_values_before_and_after_the_write() -> None:
    facts = dict(LiveView(sigmoid_report()).state()["nodes"]["T4@v1"]["facts"])

    assert (facts["shape"], facts["dtype"], facts["device"], facts["storage"]) == ("[8]", "float32", "cpu", "S4")
    assert (facts["id"], facts["data_ptr"]) == ("140000000384", hex(94_000_000_256))
    assert facts["came by"] == "mutated by Tensor.__setitem__, line 6"
    assert (facts["values before"], facts["values after"]) == (
        "0.9, 0.4, 0.3, 0.5, 0.5, 0.6, 0.7, 0.8",
        "0.9, 0.4, 2, 0.5, 0.5, 0.6, 0.7, 0.8",
    )


def test_the_path_of_a_finding_leads_from_the_saver_over_the_lost_version_to_the_writer() -> None:
    assert LiveView(sigmoid_report()).state()["paths"] == [["C3", "T4@v0", "C4", "T4@v1"]]


def test_the_lines_that_a_finding_is_about_are_marked_in_words() -> None:
    assert LiveView(sigmoid_report()).state()["marks"] == [
        [[0, 6], True, "✎ overwritten here"],
        [[0, 5], False, "saved here"],
    ]


def test_the_path_to_a_read_of_the_new_values_leads_on_from_the_writer() -> None:
    report = sigmoid_report()
    (finding,) = report.findings
    stale = replace(finding, code="alias-written", severity="warning", saved_call=None, read_call=5)

    (path,) = LiveView(Report(report.trace, (stale,))).state()["paths"]

    assert path[0] == "C4"
    assert path.index("T4@v1") < path.index("C5")


def test_the_steps_are_the_calls_in_their_order_with_their_lines() -> None:
    state = LiveView(sigmoid_report()).state()

    assert [step[0] for step in state["steps"]] == [0, 1, 2, 3, 4, 5, 6]
    assert state["steps"][4] == [4, "C4", [[0, 6]], "Tensor.__setitem__, line 6"]
    assert state["sources"][0]["lines"][5] == [6, "probs[2] = 2.0"]


def test_a_long_cell_is_stepped_by_the_boxes_of_its_picture_and_stays_small() -> None:
    state = LiveView(long_report(1000)).state()

    assert 0 < len(state["steps"]) <= MAX_STEPS
    assert len(json.dumps(state)) < 100_000


def test_the_script_is_one_function_without_imports_eval_or_a_way_to_the_network() -> None:
    text = script()

    assert "function mount(root, state, options) {" in text
    assert not re.search(r"\b(import|export|eval|fetch|Function|XMLHttpRequest|innerHTML|WebSocket)\b", text)


def test_a_script_is_packed_without_its_comments_and_its_indentation() -> None:
    written = """/* What it is,
   in two lines. */
function f(x) {
  let y = "it's = 'so' ";  /* why */

  return f(x, /[ ,"'`] = 1/g, x - -1);
}"""

    assert minified(written).splitlines() == [
        "function f(x) {",
        """let y = "it's = 'so' ";""",
        """return f(x, /[ ,"'`] = 1/g, x - -1);""",
        "}",
    ]


def test_a_folded_box_tells_what_it_holds_so_that_a_search_finds_it() -> None:
    nodes = LiveView(long_report(1000)).state()["nodes"]

    held = [node["held"] for node in nodes.values() if node.get("fold")]
    assert held
    assert all("torch.exp" in names or "Tensor" in names for names in held)
