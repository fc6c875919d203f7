"""Makes the notebooks: the text ``en/01_….md`` becomes ``en/01_….ipynb``, run from a fresh kernel.

    python notebooks/build.py              build all, English and Chinese
    python notebooks/build.py 01 zh/03     build some: a beginning of the path in notebooks/, the language may be left out
    python notebooks/build.py paddle       build the lesson on Paddle, where paddle is installed (`.venv-paddle`)
    python notebooks/build.py --run        run and write nothing; fail where a cell fails
    python notebooks/build.py --outputs    run, and write the outputs alone: what the site and the gallery need

``--run`` and ``--outputs`` take one kernel a core, which all of its notebooks share; the others take a fresh one each.

People write and review the text. The notebook has no outputs, since each one asks before it shows;
``build/outputs/en/01_….json`` has them. ``clean`` takes out what differs between two runs on one machine.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import sysconfig
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import jupytext
import kept_outputs
import nbformat
from kernel_sockets import kernel_sockets
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from traitlets.config import Config

from inplace_magic.render.page.explorer import packed, unpacked

HERE = Path(__file__).resolve().parent
LANGUAGES = ("en", "zh")
REPOSITORY = ""
"""``owner/name`` on GitHub. While it is empty there are no badges, and the first cell installs the checkout that the
notebook lies in."""
BRANCH = "main"
QUICKSTART = (HERE / "quickstart.md", HERE / "zh" / "quickstart.md")
OF_PADDLE = (HERE / "of_paddle" / "en.md", HERE / "of_paddle" / "zh.md")
"""Built by name alone: an environment for PyTorch has no Paddle."""
INSTALL = re.compile(r"^    import os\n.*^    %pip install --quiet \.\.(/\.\.)?$", re.MULTILINE | re.DOTALL)
"""How the first cell installs the checkout, or says what to do where there is none."""
UPLOAD = re.compile(r"\n\n(?:Where there is no checkout|如果这个笔记本不在代码仓库里)(?:(?!\n\n).)*", re.DOTALL)
"""What a reader without a checkout does, as a paragraph of its own."""
SPOKEN = re.compile(r"(?<=^%inplace_config --lang )\w+", re.MULTILINE)
"""The language of the reports: the one line of code that differs between a text and its translation."""
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
IMAGE = re.compile(r"(data:image/[a-z+]+;base64,[A-Za-z0-9+/=]+)")
STATE = re.compile(r'(?<= data-state=")[A-Za-z0-9+/=]+(?=")')
"""What the live view of a report reads; it has the addresses too."""
ADDRESS = re.compile(r"\b0x[0-9a-f]{6,}\b")
OBJECT_ID = re.compile(r"(?<![\w.])\d{12,}(?![\w.])")
"""Python's ``id`` is an address too; nothing else in a lesson has so many digits."""
FOLDERS = tuple(
    f"{folder}{os.sep}" for folder in (*{sysconfig.get_path(name) for name in ("purelib", "platlib", "stdlib")}, HERE.parent)
)
"""Where Python, its packages and this checkout lie; found once, for to find them takes longer than to look for them."""
HAN = r"\u3400-\u9fff"
MARK = r"\u2018-\u201d\u2026\u3000-\u303f\uff00-\uffef"
LINE_END = re.compile(
    rf"(?<=[{HAN}{MARK}])\n(?=(?:\*\*)?[{HAN}{MARK}])"
    rf"|(?<=[{MARK}])\n(?=[`\[\w])(?!\d+\. )"
    rf"|(?<=[{HAN}]\*\*)\n(?=[{HAN}{MARK}])"
)
"""Where a line of Chinese text goes on in the next one. There are no spaces between its words, and a browser would show
the line's end as one. (After ``？**`` there has to be one, else the stars are not read as the end of what is bold.)"""


def main() -> int:
    """Return exit status 0 if every chosen notebook ran, else 1."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--run", action="store_true")
    parser.add_argument("--outputs", action="store_true")
    arguments = parser.parse_args()
    known = [*QUICKSTART, *texts()]
    if any(name.startswith("paddle") for name in arguments.names):
        known += OF_PADDLE
        os.environ.setdefault("GLOG_minloglevel", "3")  # else Paddle says on stderr at what time a node raised
    chosen = [text for text in known if not arguments.names or any(_is_meant(text, each) for each in arguments.names)]
    began = time.perf_counter()
    kernels = os.cpu_count() or 1
    shared = arguments.run or arguments.outputs
    shares = [chosen[at::kernels] for at in range(kernels)] if shared else [[text] for text in chosen]
    with ProcessPoolExecutor() as processes:
        done = processes.map(_of_one_kernel if shared else _of_fresh_kernels, filter(None, shares))
        results = {text: result for share in done for text, result in share.items()}
    failures = 0
    for text in chosen:
        content, failure, seconds = results[text]
        notebook = text.with_suffix(".ipynb")
        if not failure and not arguments.run:
            _write(notebook, content, outputs_alone=arguments.outputs)
        failures += bool(failure)
        print(f"{notebook.relative_to(HERE)}: {failure or f'{len(content.encode()):,} bytes'}, {seconds:.0f} s")
    print(f"{len(chosen)} notebooks in {time.perf_counter() - began:.0f} s")
    return 1 if failures or not chosen else 0


def _write(notebook: Path, content: str, *, outputs_alone: bool) -> None:
    """Write the notebook as learners open it, and its outputs."""
    parts = dict(zip((notebook, kept_outputs.beside(notebook)), kept_outputs.taken_out(content), strict=True))
    if outputs_alone:
        del parts[notebook]
    for path, part in parts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(part, encoding="utf-8")


def texts() -> list[Path]:
    """The text of every lesson, in order."""
    return sorted(path for language in LANGUAGES for path in (HERE / language).glob("[0-9][0-9]_*.md"))


def notebook_of(text: Path) -> Any:
    """The notebook that a text stands for, without outputs. A code cell may have a name there, else it gets a number."""
    notebook = jupytext.reads(text.read_text(encoding="utf-8"), fmt="md")
    for number, cell in enumerate(notebook.cells):
        cell.id = cell.metadata.get("name", f"{cell.cell_type}-{number:02}")
        if cell.cell_type == "markdown":
            cell.source = LINE_END.sub("", cell.source)
        cell.metadata = {"tags": cell.metadata["tags"]} if "tags" in cell.metadata else {}
    notebook.metadata = METADATA
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    return published(notebook, text) if REPOSITORY else notebook


def published(notebook: Any, text: Path) -> Any:
    """The notebook as it is opened from somewhere else: with badges, and installing from the repository."""
    path = f"notebooks/{text.with_suffix('.ipynb').relative_to(HERE).as_posix()}"
    source = f"https://github.com/{REPOSITORY}"
    kept = f"{REPOSITORY}/blob/{BRANCH}/{path}"
    badges = (
        f"[![Colab](https://colab.research.google.com/assets/colab-badge.svg)]"
        f"(https://colab.research.google.com/github/{kept}) "
        f"[![Kaggle](https://kaggle.com/static/images/open-in-kaggle.svg)]"
        f"(https://kaggle.com/kernels/welcome?src=https://github.com/{kept}) "
        f"[![Binder](https://mybinder.org/badge_logo.svg)]"
        f"(https://mybinder.org/v2/gh/{REPOSITORY}/{BRANCH}?labpath={path})"
    )
    title, _, rest = notebook.cells[0].source.partition("\n")
    notebook.cells[0].source = f"{title}\n\n{badges}\n{rest}"
    for cell in notebook.cells:
        cell.source = UPLOAD.sub("", cell.source)
        cell.source = INSTALL.sub(f"    %pip install --quiet git+{source}", cell.source)
    return notebook


def built(text: Path, settings: Config | None = None) -> tuple[str, str]:
    """The executed notebook as the text of its file, and what failed; with settings of another kernel than the usual."""
    notebook = notebook_of(text)
    return _executed(_client(notebook, text.parent, settings), notebook)


def built_in_one_kernel(texts: list[Path]) -> Iterator[tuple[str, str, float]]:
    """Several notebooks with what failed of each and the seconds. What a kernel loads before its first cell is most of
    the time that one takes; so they run in one, which is made as good as new before each: no names, no cells, no modules
    of the package, and its first cell is number one again."""
    client = _client(nbformat.v4.new_notebook(), HERE)
    with client.setup_kernel(cwd=str(HERE), cleanup_kc=True):
        for text in texts:
            began = time.perf_counter()
            client.nb = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(f"{AS_NEW}_as_new({str(text.parent)!r})")])
            client.execute(cleanup_kc=False)
            client.nb = notebook_of(text)
            content, failure = _executed(client, client.nb, cleanup_kc=False)
            yield content, failure, time.perf_counter() - began


AS_NEW = """\
def _as_new(folder):
    import gc, os, sys
    shell = get_ipython()
    shell.extension_manager.unload_extension("inplace_magic")
    counted = shell.execution_count - len(shell.history_manager.input_hist_raw) + 1  # this cell, yet: 1, in IPython 7: 0
    shell.reset(new_session=True)
    shell.execution_count = counted
    shell.InteractiveTB.set_mode("Context")
    for name in [name for name in sys.modules if name.partition(".")[0] == "inplace_magic"]:
        del sys.modules[name]
    gc.collect()
    gc.freeze()
    os.chdir(folder)
"""
"""A cell that takes away what the notebook before has left. What is there then, torch above all, stays: the garbage
collector walked through it for a quarter of a kernel's time."""


def _client(notebook: Any, folder: Path, settings: Config | None = None) -> NotebookClient:
    return NotebookClient(
        notebook,
        kernel_name="python3",
        timeout=300,
        record_timing=False,
        coalesce_streams=True,
        store_widget_state=False,
        extra_arguments=["--log-level=ERROR"],
        resources={"metadata": {"path": str(folder)}},
        config=settings or kernel_sockets(),
    )


def _executed(client: NotebookClient, notebook: Any, **settings: Any) -> tuple[str, str]:
    try:
        client.execute(**settings)
    except CellExecutionError as error:
        return "", f"a cell failed\n{error}"
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        if cell.cell_type == "code":
            cell.outputs = [clean(output) for output in cell.outputs]
    notebook.metadata = METADATA
    nbformat.validate(notebook)
    return nbformat.writes(notebook) + "\n", ""


def _of_fresh_kernels(texts: list[Path]) -> dict[Path, tuple[str, str, float]]:
    results = {}
    for text in texts:
        began = time.perf_counter()
        results[text] = (*built(text), time.perf_counter() - began)
    return results


def _of_one_kernel(texts: list[Path]) -> dict[Path, tuple[str, str, float]]:
    return dict(zip(texts, built_in_one_kernel(texts), strict=True))


def clean(value: Any) -> Any:
    """An output without what is true of one run on one machine only: addresses, and where Python is installed.

    An address becomes ``0x…`` or ``…``, which nobody takes for one.
    """
    if isinstance(value, dict):
        return type(value)({key: clean(item) for key, item in value.items()})
    if isinstance(value, list):
        return [clean(item) for item in value]
    if not isinstance(value, str):
        return value
    value = STATE.sub(lambda state: packed(clean(unpacked(state[0]))), value)
    parts = IMAGE.split(value)
    return "".join(part if number % 2 else _without_addresses(part) for number, part in enumerate(parts))


def _without_addresses(text: str) -> str:
    for folder in FOLDERS:
        text = text.replace(folder, "")
    return OBJECT_ID.sub("…", ADDRESS.sub("0x…", text))


def _is_meant(text: Path, name: str) -> bool:
    return text.name.startswith(name) or text.relative_to(HERE).as_posix().startswith(name)


if __name__ == "__main__":
    sys.exit(main())
