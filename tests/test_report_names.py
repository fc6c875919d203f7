"""What people guess that a report has: it is there, or the error names what is there instead."""

from __future__ import annotations

import pydoc
from pathlib import Path

import pandas as pd
import pytest
from builders import sigmoid_report

import inplace_magic
from inplace_magic.report import Report

GUESSES = {
    "df": "to_frame()",
    "to_dataframe": "to_frame()",
    "summary": "to_text()",
    "plot": "graph",
    "fix": "patch()",
    "hazard": "hazards",
    "to_jsn": "to_json",
}


@pytest.mark.parametrize(("guess", "right"), GUESSES.items())
def test_an_attribute_that_is_not_there_names_the_one_that_is(guess: str, right: str) -> None:
    with pytest.raises(AttributeError) as error:
        getattr(sigmoid_report(), guess)
    assert str(error.value) == f"'Report' object has no attribute {guess!r}; did you mean `{right}`?"
    assert hasattr(Report, right.removesuffix("()"))


def test_what_is_like_nothing_is_refused_without_a_guess() -> None:
    for name in ("zzz", "_repr_png_", "__wrapped__"):
        with pytest.raises(AttributeError, match=rf"^'Report' object has no attribute '{name}'$"):
            getattr(sigmoid_report(), name)


def test_the_tables_are_frames_one_word_away() -> None:
    report = sigmoid_report()
    for frame in (report.memory, report.tensors, report.saved):
        assert isinstance(frame, pd.DataFrame)
        assert len(frame) > 0
    assert report.tensors.equals(report.to_frame("tensors"))
    assert report.saved.equals(report.to_frame("saved"))


def test_memory_is_a_row_for_each_line_in_their_order_with_the_device() -> None:
    memory = sigmoid_report().memory
    assert [*memory.columns] == [
        *("line", "code", "device", "delta", "allocated", "freed", "peak", "kept_for_backward", "place")
    ]
    assert [*memory["line"]] == sorted(memory["line"])
    assert {*memory["device"]} == {"cpu"}
    assert {*memory["place"]} == {"Cell In[7]"}
    assert (memory["delta"] == memory["allocated"] - memory["freed"]).all()
    row = memory.set_index("line").loc[4]
    assert (row["code"], row["delta"], row["kept_for_backward"]) == ("logits = features @ weight", 32, 160)


def test_page_text_and_frame_have_the_same_rows_of_memory() -> None:
    report = sigmoid_report()
    page, text = report.to_html(), report.to_text()
    for row in report.memory.itertuples():
        sizes = [f"{size} B" for size in (row.delta, row.allocated, row.freed, row.peak, row.kept_for_backward)]
        (written,) = [line for line in text.splitlines() if line.startswith(f"  line {row.line} ")]
        assert " ".join(written.split()) == f"line {row.line} {' '.join(sizes)} {row.code}"
        cells = "</td><td style=text-align:right>".join(sizes)
        assert f"</td><td style=text-align:right>{cells}</td>" in page


def test_a_report_writes_itself_in_every_format_and_gives_the_path(tmp_path: Path) -> None:
    report = sigmoid_report()
    for suffix in ("html", "svg", "dot", "json", "csv"):
        path = report.save(tmp_path / f"r.{suffix}")
        assert path.read_text(encoding="utf-8")
    with pytest.raises(inplace_magic.InplaceMagicError, match=r"must end in \.html"):
        report.save(tmp_path / "r.doc")


def test_to_html_and_to_json_write_a_file_too_and_still_give_the_text(tmp_path: Path) -> None:
    report = sigmoid_report()
    assert report.to_html(tmp_path / "r.html") == report.to_html() == (tmp_path / "r.html").read_text(encoding="utf-8")
    assert report.to_json(str(tmp_path / "r.json")) == (tmp_path / "r.json").read_text(encoding="utf-8")
    assert Report.from_json((tmp_path / "r.json").read_text(encoding="utf-8")) == report


def test_the_graph_shows_itself_as_a_picture_that_every_front_end_keeps() -> None:
    shown = sigmoid_report().graph._repr_mimebundle_()
    assert shown["text/html"].count("<img ") == 1
    assert "data:image/svg+xml" in shown["text/html"]
    assert "probs" in shown["text/plain"]
    assert "<img" not in Report(inplace_magic.Trace()).graph._repr_mimebundle_()["text/html"]


def test_show_prints_the_report_where_there_is_no_notebook(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("IPython.get_ipython", lambda: None)
    sigmoid_report().show()
    assert capsys.readouterr().out == sigmoid_report().to_text()


def test_findings_and_hazards_are_the_same_and_one_of_them_is_listed() -> None:
    report = sigmoid_report()
    assert [*report.findings] == report.hazards
    assert "hazards" in dir(report)
    assert "findings" not in dir(report)


def test_dir_shows_what_a_user_needs_and_all_of_it_is_there() -> None:
    report = sigmoid_report()
    for name in dir(report):
        assert name in pydoc.render_doc(Report) or hasattr(report, name)
        assert not name.startswith("_")
    assert {"origin", "live", "faults", "from_trace"}.isdisjoint(dir(report))
    assert {"Any", "TYPE_CHECKING", "import_module"}.isdisjoint(dir(inplace_magic))
    assert all(hasattr(inplace_magic, name) for name in dir(inplace_magic))


def test_help_begins_with_what_a_user_needs() -> None:
    told = pydoc.plain(pydoc.render_doc(sigmoid_report()))
    first = told.index("__delattr__")
    for name in ("hazards", "verdict", "show()", "graph", "memory", "tensors", "saved", "save(", "prove()"):
        assert 0 < told.index(f"report.{name}") < first


def test_the_operators_of_a_level_that_records_none_are_an_empty_table_that_says_so() -> None:
    with pytest.warns(UserWarning, match="Level 'calls' records no operators: watch with `--level ops`"):
        assert sigmoid_report().to_frame("ops").empty


def test_the_last_report_is_that_of_the_block_before() -> None:
    with inplace_magic.watch() as w:
        pass
    assert inplace_magic.last_report() is w.report
