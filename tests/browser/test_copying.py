"""Where a fix was tried, a button copies the corrected lines; without scripts, or without a trial, there is none."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import torch
from browser.conftest import OpenPage

import inplace_magic
from inplace_magic import Report

COPY = "Copy the corrected lines"


@pytest.fixture
def reports() -> tuple[Report, Report]:
    """Of a program that backward refuses, without its fix tried and with it."""
    x = torch.ones(3, requires_grad=True)
    with suppress(RuntimeError):  # noqa: SIM117  a second run takes the block of a `with` that is the watch's alone
        with inplace_magic.watch() as w:
            gate = torch.sigmoid(x)
            gate.mul_(2)
            gate.sum().backward()
    assert w.report is not None
    return w.report, w.report.prove()


def opened(new_page: OpenPage, path: Path, report: Report, **settings: Any) -> Any:
    path.write_text(report.to_html(), encoding="utf-8")
    page = new_page(**settings)
    page.goto(path.as_uri())
    return page


def test_the_button_copies_the_corrected_lines(
    new_page: OpenPage, tmp_path: Path, reports: tuple[Report, Report]
) -> None:
    page = opened(new_page, tmp_path / "page.html", reports[1], permissions=["clipboard-read", "clipboard-write"])

    page.get_by_role("button", name=COPY).click()

    page.get_by_role("button", name="Copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == "            gate = gate * 2"


def test_where_nothing_may_be_copied_the_lines_are_selected(
    new_page: OpenPage, tmp_path: Path, reports: tuple[Report, Report]
) -> None:
    page = opened(new_page, tmp_path / "page.html", reports[1], locale="en-GB")
    page.evaluate("void (navigator.clipboard.writeText = () => Promise.reject(new Error('not allowed')))")

    page.get_by_role("button", name=COPY).click()

    page.wait_for_function("getSelection().toString().includes('gate = gate * 2')")


def test_there_is_no_button_without_scripts_and_none_without_a_trial(
    new_page: OpenPage, tmp_path: Path, reports: tuple[Report, Report]
) -> None:
    still = opened(new_page, tmp_path / "still.html", reports[1], java_script_enabled=False)
    untried = opened(new_page, tmp_path / "untried.html", reports[0], locale="en-GB")

    untried.locator("svg.im-graph").first.wait_for()
    assert still.get_by_text(COPY).count() == untried.get_by_text(COPY).count() == 0
    assert still.get_by_text("gate = gate * 2").count() == 2, "in the sentence and in the diff"
