"""A saved report from a stranger is data: it opens as one that can be shown, or is refused in one clear sentence."""

from __future__ import annotations

import json
import pickle
import signal
from collections.abc import Callable, Iterator
from functools import cache, partial
from random import Random
from typing import Any, get_args

import pytest
from builders import sigmoid_report
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from no_harm.hostile import ODD_VALUES, full_report, leaves, replaced_everywhere
from no_harm.reads import Field, fields_of

from inplace_magic import saved_report
from inplace_magic.errors import ReportFormatError
from inplace_magic.report import FrameView, Report

SECONDS = 60
"""A report that keeps a renderer busy for longer counts as a hang."""
VIEWS: tuple[FrameView, ...] = get_args(FrameView)
QUICK: dict[str, Callable[[Report], Any]] = {
    "to_text": Report.to_text,
    "to_dot": Report.to_dot,
    "to_dot, raw": lambda report: report.to_dot(raw=True),
    "to_html": lambda report: report.to_html(graph=False),
    "to_dict": Report.to_dict,
    "repr": repr,
    **{f"to_frame, {view}": partial(Report.to_frame, view=view) for view in VIEWS},
}
"""Everything but the layout of the picture, which takes a tenth of a second."""
ALL = {**QUICK, "to_svg": Report.to_svg, "to_html": Report.to_html, "bundle": lambda report: report._repr_mimebundle_()}


@pytest.fixture(autouse=True)
def _no_hang() -> Iterator[None]:
    if not hasattr(signal, "SIGALRM"):
        yield
        return

    def stop(*_: object) -> None:
        raise AssertionError("it hangs")

    before = signal.signal(signal.SIGALRM, stop)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def shown(report: Report, renderers: dict[str, Callable[[Report], Any]] = QUICK) -> None:
    """Asserts that every renderer takes the report."""
    if hasattr(signal, "SIGALRM"):
        signal.alarm(SECONDS)
    for name, render in renderers.items():
        try:
            render(report)
        except Exception as error:
            raise AssertionError(f"{name} fails: {type(error).__name__}: {error}") from error


def opened(text: str | bytes) -> Report | None:
    """The report, or None after one clear refusal; anything else is a failure of the test."""
    try:
        return Report.from_json(text)
    except ReportFormatError as error:
        sentence = str(error)
        assert len(sentence) < 400
        assert "\n" not in sentence
        assert sentence.endswith(".")
        return None


GOOD = json.loads(sigmoid_report().to_json())
REFUSED: dict[str, Any] = {
    "nothing": "",
    "no JSON": "<html>",
    "half a file": sigmoid_report().to_json()[:-5],
    "two reports": sigmoid_report().to_json() * 2,
    "a pickle": pickle.dumps({"format": "inplace_magic.report"}),
    "a pickle as text": pickle.dumps({"format": "inplace_magic.report"}, protocol=0).decode(),
    "no text": 7,
    "null": "null",
    "a number": "1",
    "a string": '"inplace_magic.report"',
    "a list": "[]",
    "an empty object": "{}",
    "not NaN": "NaN",
    "deep lists": "[" * 100_000,
    "deep objects": '{"a":' * 100_000,
    "deep trace": json.dumps(GOOD).replace('"level": "calls"', '"level": ' + "[" * 100_000 + "]" * 100_000),
    "deep callers": json.dumps(
        {**GOOD, "calls": [{"index": 0, "name": "f", "kind": "query", "callsite": "@"}]}
    ).replace('"@"', '{"line": 1, "caller": ' * 30_000 + "null" + "}" * 30_000),
    "a number of 5,000 digits": json.dumps({**GOOD, "format_version": "@"}).replace('"@"', "9" * 5000),
    "bytes that are no UTF-8": b"\xff\xfe\xfd" + json.dumps(GOOD).encode(),
    "a byte-order mark in text": "\ufeff" + json.dumps(GOOD),
    "another format": json.dumps({**GOOD, "format": "pickle"}),
    "a newer version": json.dumps({**GOOD, "format_version": 2}),
    "a version as text": json.dumps({**GOOD, "format_version": "1"}),
    "a version that is true": json.dumps({**GOOD, "format_version": True}),
    "a version of a million letters": json.dumps({**GOOD, "format_version": "1" * 1_000_000}),
    "a version of a list": json.dumps({**GOOD, "format_version": [[]] * 10_000}),
    "no trace": json.dumps({key: value for key, value in GOOD.items() if key != "trace"}),
    "a trace of text": json.dumps({**GOOD, "trace": "x"}),
    "an unknown kind of call": json.dumps(GOOD).replace('"in-place"', '"os.system"'),
    "an unknown severity": json.dumps(GOOD).replace('"severity": "error"', '"severity": "fatal"'),
    "NaN for a line": json.dumps(GOOD).replace('"line": 6', '"line": NaN'),
    "a line of 30 digits": json.dumps(GOOD).replace('"line": 6', '"line": ' + "9" * 30),
    "a shape of text": json.dumps(GOOD).replace('"shape": [8]', '"shape": "8"'),
    "a hazard without a code": json.dumps(GOOD).replace('"code": ', '"c0de": '),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_no_report_of_ours_is_refused_in_one_sentence(what: str) -> None:
    with pytest.raises(ReportFormatError):
        Report.from_json(REFUSED[what])
    assert opened(REFUSED[what]) is None


def test_a_text_past_the_limit_is_refused_before_it_is_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(saved_report, "MAX_JSON_CHARACTERS", 1000)

    with pytest.raises(ReportFormatError, match="more than 1000 are not read"):
        Report.from_json("[" * 1001)


@pytest.mark.parametrize("coding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_the_bytes_of_a_file_open_as_its_text_does(coding: str) -> None:
    assert Report.from_json(sigmoid_report().to_json().encode(coding)) == sigmoid_report()


def test_of_a_key_that_comes_twice_the_last_counts_and_unknown_keys_count_for_nothing() -> None:
    text = json.dumps({**GOOD, "surprise": {"deep": [1]}}).replace('{"format":', '{"calls": 7, "format":')

    assert Report.from_json(text) == sigmoid_report()


def test_infinite_and_undefined_elements_of_tensors_are_read_and_shown() -> None:
    text = json.dumps(GOOD).replace("0.9, 0.4, 2.0", "-Infinity, 0.4, NaN")

    report = Report.from_json(text)

    shown(report, ALL)
    assert "[0]: 0.9 → -inf, [2]: 0.3 → nan" in report.to_text()


def test_the_sample_report_fills_every_field_and_comes_back_the_same() -> None:
    report = full_report()
    empty = [path for path, value in leaves(report.to_dict()) if value in (None, "", []) and path[-1] != "caller"]

    assert empty == []
    assert Report.from_json(report.to_json()) == report
    shown(report, ALL)


FULL = json.loads(full_report().to_json())


@cache
def fields() -> list[Field]:
    return fields_of(full_report(), QUICK)


def test_a_field_is_refused_among_all_the_others_as_it_is_alone() -> None:
    for field in fields():
        refused = [opened("{}".join(text)) is None for text in (field.among, field.alone)]
        assert refused[0] is refused[1], field.path


def test_a_renderer_is_asked_wherever_it_reads_a_field() -> None:
    asked = {field.path: {*field.renderers} for field in fields()}

    assert asked["hazards", 0, "message"] >= {"to_text", "to_html", "to_dict"}
    assert asked["calls", 0, "inputs", 0, "shape", 0] >= {"to_text", "to_dot", "to_html", "to_frame, tensors"}
    assert "to_frame, ops" in asked["trace", "ops", 0, "call"]
    assert "to_frame, ops" not in asked["hazards", 0, "message"]
    assert asked["trace",] == asked["verdict",] == {*QUICK}
    assert {"to_dict"} < set.union(*asked.values()) == {*QUICK}


@pytest.mark.parametrize("value", ODD_VALUES, ids=lambda value: repr(value)[:30])
def test_a_field_that_holds_something_else_is_refused_or_shown(value: Any) -> None:
    """It is refused where the field stands alone; if it is not, it is shown among all other fields."""
    accepted, told = 0, json.dumps(value)
    for field in fields():
        report = opened(told.join(field.alone))
        if report is None:
            continue
        if field.renderers.keys() > {"to_dict"}:
            report = opened(told.join(field.among))
            assert report is not None
        accepted += 1
        try:
            shown(report, field.renderers)
        except AssertionError as error:
            raise AssertionError(f"with {value!r} at {field.path}: {error}"[:1000]) from error
    print(f"{len(fields())} tried, {accepted} shown, the others refused")


@pytest.mark.parametrize("value", [0, -1, 3, 2**62, -(2**63), 2**64 - 1], ids=str)
def test_a_report_with_one_and_the_same_number_everywhere_is_shown(value: int) -> None:
    """So every call is its own parent, every node follows itself, all tensors share one storage, lines are negative."""
    for base in (FULL, GOOD):
        data = replaced_everywhere(
            base, lambda name, old: value if type(old) is int and name != "format_version" else old
        )
        report = opened(json.dumps(data))
        assert report is not None
        shown(report, ALL)


@pytest.mark.parametrize("base", [FULL, GOOD], ids=["full", "good"])
def test_any_mixture_of_numbers_and_lengths_is_refused_or_shown(base: Any) -> None:
    numbers = (-1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 1000, 2**40)
    told: set[bool] = set()

    @settings(max_examples=75, derandomize=True, database=None, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.integers(0, 2**64 - 1))  # a seed: to draw for each number itself is more than one example may draw
    def mixed(seed: int) -> None:
        random = Random(seed)

        def change(name: str, old: Any) -> Any:
            if name == "format_version" or random.random() < 0.6:
                return old
            if type(old) is int:
                return random.choice(numbers)
            return not old if isinstance(old, bool) else old

        report = opened(json.dumps(replaced_everywhere(base, change)))
        told.add(report is not None)
        if report is not None:
            shown(report)

    mixed()
    assert True in told


DEEP = {
    "an expression of 3,000 subscripts": ("x" + "[0]" * 3000, "x" + "[0]" * 3000),
    "a target of 3,000 subscripts": ("x" + "[0]" * 3000 + " = f(x)", "f(x)"),
    "a target of 900 attributes": ("x" + ".a" * 900 + " = f(x)", "f(x)"),
    "a sum of 3,000 terms": ("y = " + "+".join("x" * 3000), "+".join("x" * 3000)),
    "20,000 parentheses": ("(" * 20_000, "(" * 20_000),
    "20,000 minuses": ("y = " + "-" * 20_000 + "x", "-" * 20_000 + "x"),
    "400 calls": ("y = f" + "(0)" * 400, "f" + "(0)" * 400),
    "a NUL": ("y = f(\x00)", "f(\x00)"),
    "half a surrogate pair": ("y = f('\ud800')", "f('\ud800')"),
    "a megabyte": ("y = " + "x" * 1_000_000, "x" * 1_000_000),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("what", DEEP)
def test_source_text_that_no_parser_likes_is_shown_all_the_same(what: str) -> None:
    statement, expression = DEEP[what]
    texts = {"statement": statement, "expression": expression, "name": "Tensor.__getitem__"}
    report = opened(json.dumps(replaced_everywhere(FULL, lambda name, old: texts.get(name, old))))

    assert report is not None
    shown(report)


@pytest.mark.filterwarnings("error")
def test_showing_a_report_issues_no_warning_for_the_source_text_in_it() -> None:
    def change(name: str, old: Any) -> Any:
        return r"y = f('\d', 1 is 1)" if name in ("statement", "expression", "text") else old

    report = opened(json.dumps(replaced_everywhere(FULL, change)))

    assert report is not None
    shown(report, ALL)
