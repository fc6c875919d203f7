"""The gallery: pages of the notebooks that were run, which load nothing from elsewhere."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from lessons.texts import TEXTS, shipped
from scripts import script

GALLERY = script("notebooks/gallery.py")


def test_a_page_shows_the_outputs_loads_nothing_and_leads_to_pages_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = next(text for text in TEXTS if text.name.startswith("09"))
    cell = next(cell["id"] for cell in shipped(text)["cells"] if cell["cell_type"] == "code")
    shown = {"output_type": "stream", "name": "stdout", "text": ["what the cell gave"]}
    outputs = tmp_path / "outputs.json"
    outputs.write_text(json.dumps({cell: {"execution_count": 1, "outputs": [shown]}}), encoding="utf-8")
    notebook = text.with_suffix(".ipynb")
    monkeypatch.setattr(
        GALLERY.kept_outputs, "beside", lambda path: outputs if path == notebook else tmp_path / "none.json"
    )
    GALLERY.main(tmp_path)
    page = (tmp_path / text.parent.name / notebook.with_suffix(".html").name).read_text(encoding="utf-8")
    assert "what the cell gave" in page
    assert re.findall(r"""(?:src|import .* from|url)[=( ]*["'](?:https?:)?//""", page) == []
    links = re.findall(r'<a href="([^"#]+)"', page)
    assert [link for link in links if not link.startswith("https://") and not link.endswith(".html")] == []
    assert any(link.endswith(".html") for link in links)
    assert f'href="{text.parent.name}/{notebook.stem}.html"' in (tmp_path / "index.html").read_text(encoding="utf-8")
