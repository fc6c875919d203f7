"""The widget's Python side: small state made from the report alone, and nothing kept alive."""

from __future__ import annotations

import asyncio
import copy
import gc
import json
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
import torch
import traitlets
from ipywidgets import Widget

import inplace_magic
from inplace_magic import Report
from inplace_magic.record.origin import ValuesNow
from inplace_magic.render.reading import Reading
from inplace_magic.widgets.report_widget import ReportWidget


def watched(layers: int = 1) -> tuple[Report, torch.Tensor]:
    with inplace_magic.watch() as w:
        x = torch.zeros(2, 4)
        for _ in range(layers):
            x = torch.sigmoid(x)
            x = x + 1
        x.mul_(2)
    assert w.report is not None
    return w.report, x


def key_of(widget: ReportWidget, title: str) -> str:
    return next(key for key, node in widget.state["nodes"].items() if title in node["title"])


def test_the_same_report_gives_the_same_small_state_and_so_does_a_copy_from_a_file() -> None:
    report, _ = watched()
    state = report.to_widget().state
    assert json.dumps(state) == json.dumps(report.to_widget().state)
    assert json.dumps(state) == json.dumps(Report.from_json(report.to_json()).to_widget().state)
    assert len(json.dumps(state)) < 20_000


def test_opening_folding_and_detail_change_what_is_drawn() -> None:
    widget = watched(60)[0].to_widget()
    normal = len(widget.state["nodes"])
    fold = next(key for key in widget.state["nodes"] if key.startswith("F"))
    widget.expanded = [fold]
    assert fold not in widget.state["nodes"]
    assert len(widget.state["nodes"]) > normal
    widget.expanded = []
    widget.detail = "detailed"
    assert len(widget.state["nodes"]) > 3 * normal
    with pytest.raises(traitlets.TraitError):
        widget.detail = "all"


def test_another_level_of_detail_folds_again_what_was_opened() -> None:
    widget = watched(60)[0].to_widget()
    fold = next(key for key in widget.state["nodes"] if key.startswith("F"))
    widget.expanded = [fold]
    widget.detail = "overview"
    assert widget.expanded == []
    assert len(widget.state["nodes"]) <= 12
    widget.detail = "normal"
    assert fold in widget.state["nodes"]


def test_the_level_of_detail_is_offered_where_something_can_be_folded() -> None:
    assert watched(60)[0].to_widget().state["foldable"]
    assert not watched(2)[0].to_widget().state["foldable"]


def test_values_are_those_of_now_with_the_version_that_they_have() -> None:
    report, x = watched()
    widget = report.to_widget()
    key = key_of(widget, f"T{report.calls[-1].mutations[0].tensor} ")
    assert widget.values(key) == f"{key.split('@')[0]} x holds now (v1): 3, 3, 3, 3, 3, 3, 3, 3"
    with torch.no_grad():
        x[0, 0] = 9
    assert "holds now (v2): 9, 3, 3" in widget.values(key)
    assert "is no tensor" in widget.values("C1")


def test_asking_keeps_nothing_alive_and_what_is_gone_is_said_to_be_unknown() -> None:
    report, x = watched()
    widget = report.to_widget()
    key = key_of(widget, f"T{report.calls[-1].mutations[0].tensor} ")
    widget.values(key)
    gone = weakref.ref(x)
    del x
    assert gone() is None
    assert "values unknown" in widget.values(key)


def test_values_asked_for_from_another_thread_are_read_between_cells_in_the_thread_of_the_cells() -> None:
    readers: list[int] = []

    class Tensors:
        def values(self, tensor: int) -> ValuesNow | None:
            readers.append(threading.get_ident())
            return None

    report = replace(watched()[0], live=Tensors())

    async def kernel() -> None:
        widget = ReportWidget(report)
        key = key_of(widget, "T1 ")
        message = {
            "content": {"data": {"method": "custom", "content": {"type": "values", "key": key}}},
            "buffers": [],
        }
        subshell = threading.Thread(target=widget._handle_msg, args=(message,))
        subshell.start()
        subshell.join()
        assert readers == []  # the cell that waited for the thread still runs
        await asyncio.sleep(0)
        assert readers == [threading.get_ident()]

    with ThreadPoolExecutor(1) as elsewhere:  # in this thread the browser tests may have left a loop running
        elsewhere.submit(asyncio.run, kernel()).result()


def test_a_report_from_a_file_and_a_copied_one_know_no_values() -> None:
    report, x = watched()
    key = key_of(report.to_widget(), f"T{report.calls[-1].mutations[0].tensor} ")
    assert "values unknown" in Report.from_json(report.to_json()).to_widget().values(key)
    assert "values unknown" in copy.deepcopy(report).to_widget().values(key)
    assert x is not None


def test_a_second_report_joins_and_the_selection_of_the_first_does_not_carry_over() -> None:
    first, _ = watched()
    second, _ = watched(2)
    widget = first.to_widget()
    widget.selected, widget.step = "C0", 0
    widget.add(second)
    assert (widget.shown, widget.selected, widget.step) == (1, None, None)
    assert widget.state["reports"] == ["Report 1", "Report 2"]
    assert widget.reports == [first, second]
    widget.shown = 0
    assert widget.state["nodes"] == first.to_widget().state["nodes"]
    with pytest.raises(traitlets.TraitError, match="There is no report 2: this widget has 2, counted from 0"):
        widget.shown = 2


def readings() -> list[Reading]:
    gc.collect()
    return [each for each in gc.get_objects() if type(each) is Reading]


def test_a_report_is_read_once_for_all_that_is_shown_of_it_and_let_go_with_it() -> None:
    before = len(readings())
    first, _ = watched(60)
    widget = first.to_widget()
    (reading,) = readings()[before:]
    graph = reading.graph
    widget.expanded = [next(key for key in widget.state["nodes"] if key.startswith("F"))]
    widget.detail = "overview"
    widget.values("T1@v0")
    assert [each is reading for each in readings()[before:]] == [True]
    assert reading.graph is graph
    gone = weakref.ref(reading)
    del reading, graph
    widget.add(watched()[0])
    assert gone() is None
    widget.close()
    assert len(readings()) == before


def test_python_hears_what_is_selected() -> None:
    widget = watched()[0].to_widget()
    heard: list[str | None] = []
    widget.observe(lambda change: heard.append(change["new"]), "selected")
    widget.set_state({"selected": "C1", "step": 1})  # as a message from the browser does
    assert (heard, widget.step) == (["C1"], 1)


def test_a_closed_widget_is_gone() -> None:
    widget = watched()[0].to_widget()
    name = widget.model_id
    widget.close()
    assert widget.comm is None
    assert name not in getattr(Widget, "_instances", {})
    gone = weakref.ref(widget)
    del widget
    gc.collect()
    assert gone() is None


def test_an_empty_widget_says_that_it_is_empty() -> None:
    empty = ReportWidget()
    assert empty.state["problem"] == empty.values("T1@v0") == "There is no report here yet."
