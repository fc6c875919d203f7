"""The course as static pages with its reports and pictures, in one folder that any web server can show:

    python notebooks/gallery.py [FOLDER]    (build/gallery)

``build.py --outputs`` has run the notebooks before; ``make gallery`` does both. A page loads nothing from elsewhere.
"""

from __future__ import annotations

import html
import re
import sys
from pathlib import Path

import kept_outputs
import nbformat
from nbconvert import HTMLExporter

HERE = Path(__file__).resolve().parent
TO_NOTEBOOK = re.compile(r"(?<=\]\()([^):]+)\.ipynb(?=[)#])")
TO_A_FILE = re.compile(r"\[([^\]]+)\]\((?!https?:|#)[^)]+\.(?:md|py)(?:#[^)]*)?\)")
"""A link to a file of the repository, which the folder does not have."""
SCRIPT = re.compile(r"<script.*?</script>", re.DOTALL)
INDEX = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>inplace_magic: the course</title>
<style>body{{font:16px/1.6 system-ui,sans-serif;max-width:44em;margin:2em auto;padding:0 1em}}</style>
<h1>inplace_magic: the course</h1>
<p>Each notebook with its outputs. To guess before you look, open the notebook of the same name in Jupyter.</p>
{lists}
</html>
"""


def main(to: Path) -> None:
    """Write a page for each notebook that was run, and an index."""
    found = [path for path in notebooks() if kept_outputs.beside(path).exists()]
    exporter = HTMLExporter(template_name="classic")
    titles = {}
    for path in found:
        parts = (file.read_text(encoding="utf-8") for file in (path, kept_outputs.beside(path)))
        notebook = nbformat.reads(kept_outputs.put_back(*parts), as_version=4)
        for cell in notebook.cells:
            if cell.cell_type == "markdown":
                cell.source = TO_A_FILE.sub(r"\1", TO_NOTEBOOK.sub(r"\1.html", cell.source))
        title = titles[path] = re.sub(r"[#`]", "", notebook.cells[0].source.partition("\n")[0]).strip()
        text, _resources = exporter.from_notebook_node(notebook, {"metadata": {"name": title}})
        page = page_of(path, to)
        page.parent.mkdir(parents=True, exist_ok=True)
        head, _end, body = text.partition("</head>")
        # The scripts of nbconvert come from elsewhere; the reports carry their own.
        page.write_text(f"{SCRIPT.sub('', head)}</head>{body}", encoding="utf-8")
    lists = ""
    for language, name in (("en", "English"), ("zh", "中文")):
        chosen = {path: title for path, title in titles.items() if language_of(path) == language}
        lists += f"<h2>{name}</h2>\n<ul>\n{links(chosen, to)}</ul>\n"
    (to / "index.html").write_text(INDEX.format(lists=lists), encoding="utf-8")
    size = sum(file.stat().st_size for file in to.rglob("*.html"))
    print(f"{len(found)} pages, {size / 1e6:.1f} MB: {to / 'index.html'}")


def notebooks() -> list[Path]:
    """Return every notebook, the quickstarts first."""
    return sorted(HERE.rglob("*.ipynb"), key=lambda path: ("quickstart" not in path.name, path))


def language_of(notebook: Path) -> str:
    """Return the language of a notebook's text."""
    return "zh" if "zh" in (notebook.stem, notebook.parent.name) else "en"


def page_of(notebook: Path, to: Path) -> Path:
    """Return the file of a notebook's page."""
    return to / notebook.relative_to(HERE).with_suffix(".html")


def links(titles: dict[Path, str], to: Path) -> str:
    """Return the items of a list of notebooks."""
    return "".join(
        f'<li><a href="{page_of(path, to).relative_to(to).as_posix()}">{html.escape(title)}</a></li>\n'
        for path, title in titles.items()
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]) if sys.argv[1:] else HERE.parent / "build" / "gallery")
