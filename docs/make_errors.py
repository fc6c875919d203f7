"""The pages of PyTorch's autograd errors, in both languages: a page for each error text that the package answers.

A page has the text as its title, why PyTorch raises it, a cell that fails, the answer below that, and a cured cell. The
texts and programs are those of ``tests/postmortem/refused.md``, which the tests run, and ``texts.md`` has what other
versions of PyTorch say; the answer is what the failing cell gets here and now. ``make_pages.py`` writes the pages.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "docs"), str(ROOT / "tests")]

import make_rules  # noqa: E402  # beside this file
from postmortem.refused import Program, programs, run, texts  # noqa: E402

from inplace_magic.language import LANGUAGES, _, use_language  # noqa: E402
from inplace_magic.postmortem.kinds import KINDS  # noqa: E402

FOLDERS = {"en": "errors", "zh": "zh/errors"}
"""Folder of the pages in docs/, by language."""
_UP = {"en": "../", "zh": "../../"}
"""From a page to docs/."""
_IMPORTS = {
    r"\btorch\.": "import torch",
    r"\bnn\.": "from torch import nn",
    r"\bF\.": "import torch.nn.functional as F",
    r"\bcopy\.": "import copy",
    r"\bnumpy\.": "import numpy",
}
"""What a program needs in order to run as a cell, by what shows it."""
_WORDS = {
    "en": {
        "index": "Errors of autograd",
        "intro": "What PyTorch's autograd errors mean. Each has a page: why PyTorch raises it, a cell that fails, the "
        "answer that stands below it once `%load_ext inplace_magic` ran, and the cured cell. `inplace_magic.answer()` "
        "gives the answer as a record; its `code` is the name in the table.",
        "columns": "| error | code |",
        "why": "Why",
        "whole": "The error in full, in PyTorch {version}:",
        "fails": "A cell that fails",
        "answer": "The answer below it",
        "loaded": "After `%load_ext inplace_magic` this stands below the traceback of the cell:",
        "cured": "The cured cell",
        "others": "In other versions of PyTorch",
        "more": "More: [all errors](index.md), [from the error to a proven fix]({up}fixes.md){finding}.",
        "finding": ", [what a watch says of it]({up}rules/{page})",
        "raises": "raises",
        "cause": "the cause",
        "operation": "The operation",
    },
    "zh": {
        "index": "自动求导的各种报错",
        "intro": "PyTorch 自动求导的各种报错是什么意思。每个报错有一页：PyTorch 为什么报错、一个会报错的单元格、运行过 "
        "`%load_ext inplace_magic` 之后它下方给出的答案，以及改好的单元格。"
        "`inplace_magic.answer()` 也给出这个答案，它的 `code` 就是表中的代码。",
        "columns": "| 报错 | 代码 |",
        "why": "为什么",
        "whole": "PyTorch {version} 的完整报错：",
        "fails": "会报错的单元格",
        "answer": "它下方的答案",
        "loaded": "运行过 `%load_ext inplace_magic` 之后，单元格的回溯下方会显示：",
        "cured": "改好的单元格",
        "others": "其他版本的 PyTorch",
        "more": "参考：[所有报错](index.md)、[从报错到验证过的修改]({up}fixes.md)（英文）{finding}。",
        "finding": "、[监视时的说明]({up}rules/{page})（英文）",
        "raises": "在这里报错",
        "cause": "原因在这里",
        "operation": "这个操作",
    },
}


@dataclass(frozen=True)
class Error:
    """What the pages of one error are made of."""

    code: str
    text: str
    """The quotation that is its title."""
    others: tuple[tuple[str, str], ...]
    """(version, text) of other versions of PyTorch."""
    bad: Program
    good: Program


def errors() -> list[Error]:
    """Return every error, in the order of ``refused.md``."""
    found = list(programs())
    spoken = list(texts())
    made = []
    for code in dict.fromkeys(program.code for program in found):
        own = [program for program in found if program.code == code]
        bad = next(program for program in own if program.cause is not None)
        good = next(program for program in own if program.cause is None)
        others = tuple((version, text) for name, version, text in spoken if name == code)
        made.append(Error(code, bad.error, others, bad, good))
    return made


def pages() -> dict[str, str]:
    """Return the text of each page, by its path in docs/."""
    found = errors()
    rules = {code: rule.page for rule in make_rules.rules() for code in rule.codes}
    made = {}
    for name in LANGUAGES:
        with use_language(name):
            made[f"{FOLDERS[name]}/index.md"] = _index(found, name)
            for error in found:
                made[f"{FOLDERS[name]}/{error.code}.md"] = _page(error, name, rules.get(error.code))
    return made


def asked() -> list[dict[str, object]]:
    """Return what the site's search knows an error by: its code, the pattern of its text, and its texts."""
    known = {error.code: [error.text, *(text for _, text in error.others)] for error in errors()}
    return [
        {"code": kind.code, "pattern": kind.pattern.replace("(?P<", "(?<"), "texts": known[kind.code]}
        for kind in KINDS
        if kind.code in known
    ]


def _index(found: list[Error], name: str) -> str:
    words = _WORDS[name]
    rows = [f"| [{_escaped(error.text)}]({error.code}.md) | `{error.code}` |" for error in found]
    return "\n".join([f"# {words['index']}", "", words["intro"], "", words["columns"], "|---|---|", *rows, ""])


def _page(error: Error, name: str, finding: str | None) -> str:
    import torch

    words, up = _WORDS[name], _UP[name]
    why = next(kind.why for kind in KINDS if kind.code == error.code and kind.why)
    cell, cured = _cell(error.bad), _cell(error.good)
    raised, answer = run(cell, names={})
    if answer is None or answer.code != error.code:
        raise SystemExit(
            f"refused.md, line {error.bad.at}: the program ends without `{error.code}` in PyTorch {torch.__version__}."
        )
    more = words["more"].format(up=up, finding=words["finding"].format(up=up, page=finding) if finding else "")
    said = f"{type(raised).__name__}: {raised}"
    parts = [
        f"# {_escaped(error.text)}",
        f"## {words['why']}",
        _(why).replace(" ({maker})", "").replace("{maker}", words["operation"]),
        words["whole"].format(version=torch.__version__.partition("+")[0]),
        _block("text", said),
        f"## {words['fails']}",
        _block("python", _marked(cell, error.bad, words)),
        f"## {words['answer']}",
        words["loaded"],
        _block("text", str(answer)),
        f"## {words['cured']}",
        _block("python", cured),
    ]
    if error.others:
        parts += [
            f"## {words['others']}",
            "\n".join(f"* {version}: {_escaped(text)}" for version, text in error.others),
        ]
    return "\n\n".join([*parts, more, ""])


def _cell(program: Program) -> str:
    """The program with its imports, as a cell that runs."""
    imports = [line for sign, line in _IMPORTS.items() if re.search(sign, program.text)]
    missing = [line for line in imports if line not in program.text]
    return "\n".join([*missing, "", program.text] if missing else [program.text])


def _marked(cell: str, program: Program, words: dict[str, str]) -> str:
    """The cell with the line that raises and the cause of that marked."""
    rows = cell.rstrip("\n").split("\n")
    above = len(rows) - len(program.text.rstrip("\n").split("\n"))
    marks = {program.raises: words["raises"]}
    if program.cause != program.raises:
        marks[program.cause] = words["cause"]
    for line, mark in marks.items():
        rows[above + (line or 1) - 1] += f"  # {mark}"
    return "\n".join(rows)


def _block(kind: str, text: str) -> str:
    return f"```{kind}\n{text.strip(chr(10))}\n```"


def _escaped(text: str) -> str:
    """Markdown that shows the text as it is."""
    return re.sub(r"([\\`*_\[\]<>|#])", r"\\\1", text)
