"""Reports to files."""

from __future__ import annotations

import json
import os
import re
import sys

import pandas as pd
import pytest
from builders import sigmoid_report
from render.samples import hostile_report

from inplace_magic.errors import InplaceMagicError
from inplace_magic.record.options import SAVE_SUFFIXES
from inplace_magic.render.save import WRITERS, save
from inplace_magic.report import Report


def test_every_suffix_that_the_options_allow_can_be_written():
    assert tuple(WRITERS) == SAVE_SUFFIXES


@pytest.mark.parametrize("suffix", SAVE_SUFFIXES)
@pytest.mark.parametrize("report", [sigmoid_report(), hostile_report()], ids=["sigmoid", "hostile"])
def test_the_path_comes_back_and_nothing_else_is_left_in_the_folder(tmp_path, suffix, report):
    path = save(report, tmp_path / f"report{suffix}")

    assert os.listdir(tmp_path) == [path.name]
    assert path.stat().st_size > 100


def test_html_svg_and_dot_are_those_of_the_report(tmp_path):
    report = sigmoid_report()

    assert save(report, tmp_path / "a.html").read_text(encoding="utf-8") == report.to_html()
    assert save(report, tmp_path / "a.svg").read_text(encoding="utf-8") == report.to_svg()
    assert save(report, tmp_path / "a.DOT").read_text(encoding="utf-8") == report.to_dot()


def test_json_opens_again_as_the_same_report(tmp_path):
    text = save(sigmoid_report(), tmp_path / "a.json").read_text(encoding="utf-8")

    assert Report.from_json(text) == sigmoid_report()
    assert json.loads(text)["verdict"] == sigmoid_report().verdict


def test_csv_is_the_table_of_calls(tmp_path):
    frame = pd.read_csv(save(sigmoid_report(), tmp_path / "a.csv"))

    assert frame["name"].tolist() == sigmoid_report().to_frame("calls")["name"].tolist()


def test_an_existing_file_is_replaced_and_keeps_its_permissions(tmp_path):
    path = tmp_path / "a.dot"
    path.write_text("old")
    path.chmod(0o640)

    save(sigmoid_report(), path)

    assert path.read_text(encoding="utf-8").startswith("digraph")
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_missing_folder_is_one_clear_error(tmp_path):
    with pytest.raises(InplaceMagicError, match=r"not saved to .*nowhere.*folder that exists"):
        save(sigmoid_report(), tmp_path / "nowhere" / "a.html")


def test_another_suffix_is_one_clear_error(tmp_path):
    with pytest.raises(InplaceMagicError, match=r"must end in \.html, \.svg"):
        save(sigmoid_report(), tmp_path / "a.pdf")


def test_a_write_that_fails_leaves_the_old_file_and_no_rest(tmp_path, monkeypatch):
    path = tmp_path / "a.dot"
    path.write_text("old")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(InplaceMagicError, match="No space left on device"):
        save(sigmoid_report(), path)

    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["a.dot"]


def test_a_png_shows_the_picture_at_twice_its_size(tmp_path):
    pytest.importorskip("resvg_py")
    report = sigmoid_report()

    content = save(report, tmp_path / "a.png").read_bytes()

    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = (int.from_bytes(content[start : start + 4], "big") for start in (16, 20))
    drawn = re.search(r'width="(\d+)" height="(\d+)"', report.to_svg())
    assert drawn is not None
    assert (width, height) == (2 * int(drawn[1]), 2 * int(drawn[2]))


def test_where_no_png_can_be_made_one_sentence_says_what_to_install_and_the_old_file_stays(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    path = tmp_path / "a.png"
    path.write_bytes(b"old")

    with pytest.raises(InplaceMagicError, match="pip install resvg-py"):
        save(sigmoid_report(), path)

    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a.png"]
