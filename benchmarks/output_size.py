"""Bytes of the output that a watched cell leaves in its notebook, by section.

    python benchmarks/output_size.py [NAME ...]

Per program: calls recorded, vertices of its graph, nodes drawn, bytes of the picture as SVG and as embedded, of each
other section of the HTML, of the whole HTML, of the text, and of both together.
"""

from __future__ import annotations

import linecache
import re
import sys
import textwrap

import torch
from programs_drawn import PROGRAMS

import inplace_magic
from inplace_magic.analysis.graph import AutogradGraph
from inplace_magic.analysis.story import Story
from inplace_magic.render import to_mimebundle
from inplace_magic.report import Report

SECTION = re.compile(r"<summary[^>]*>([^<(]*)")


def watched(source: str) -> Report:
    """The report of a program; what it raises is part of it."""
    torch.manual_seed(0)
    names = {"torch": torch, "nn": torch.nn, "F": torch.nn.functional, "watch": inplace_magic.watch, "__name__": "m"}
    body = textwrap.indent(textwrap.dedent(source).strip(), "    ")
    text = f"with watch() as w:\n{body}\n"
    linecache.cache["program.py"] = (len(text), None, text.splitlines(keepends=True), "program.py")
    try:
        exec(compile(text, "program.py", "exec"), names)
    except RuntimeError as error:
        print("  raised:", str(error).splitlines()[0][:60])
    report: Report = names["w"].report  # type: ignore[attr-defined]  # the program's own variable
    return report


def sections(html: str) -> dict[str, int]:
    """Bytes of each part, named by its heading."""
    found = {}
    for number, part in enumerate(re.split(r"(?=<details)|(?=<script)", html)):
        heading = SECTION.search(part)
        name = "script" if part.startswith("<script") else heading[1].strip() if heading else f"part {number}"
        found["verdict" if number == 0 else name] = len(part.encode())
    return found


def main(chosen: list[str]) -> None:
    """Prints the table."""
    for name, source in PROGRAMS.items():
        if chosen and name not in chosen:
            continue
        print(name)
        report = watched(source)
        bundle = to_mimebundle(report)
        svg = report.to_svg()
        html, text = (len(bundle[mime].encode()) for mime in ("text/html", "text/plain"))
        drawn = len(re.findall(r'<g class="n ', svg))
        print(f"  {len(report.calls)} calls, {len(AutogradGraph.of(Story(report.trace)))} vertices, {drawn} drawn")
        print(f"  SVG {len(svg.encode()):,}; HTML {html:,} + text {text:,} = {html + text:,} bytes")
        for section, size in sections(bundle["text/html"]).items():
            print(f"    {size:>9,}  {section}")


if __name__ == "__main__":
    main(sys.argv[1:])
