"""What a notebook gets."""

from __future__ import annotations

import pytest
from builders import sigmoid_report
from render.samples import hostile_report

from inplace_magic import render
from inplace_magic.record.trace import Trace
from inplace_magic.report import Report


def test_a_report_is_shown_as_html_and_as_text():
    bundle = render.to_mimebundle(sigmoid_report())

    assert set(bundle) == {"text/html", "text/plain"}
    assert bundle["text/plain"] == sigmoid_report().to_text()


@pytest.mark.parametrize("mime", ["text/html", "text/plain"])
def test_a_renderer_that_fails_says_so_and_spoils_nothing_else(monkeypatch, mime):
    import inplace_magic.render.page.html  # noqa: F401  the module of this name must not shadow the escaping of the sentence

    def broken(report, **settings):
        raise KeyError("<b>")

    whole = render.to_mimebundle(sigmoid_report())
    monkeypatch.setitem(render.RENDERERS, mime, broken)

    bundle = render.to_mimebundle(sigmoid_report())

    assert "KeyError" in bundle[mime]
    assert "Please report it" in bundle[mime]
    assert "<b>" not in bundle["text/html"] or mime == "text/plain"
    assert [other for other in whole if bundle[other] == whole[other]] == [other for other in whole if other != mime]


@pytest.mark.parametrize("report", [Report(Trace()), hostile_report()], ids=["empty", "hostile"])
def test_any_report_can_be_shown(report):
    bundle = render.to_mimebundle(report)

    assert "could not show" not in bundle["text/html"] + bundle["text/plain"]
