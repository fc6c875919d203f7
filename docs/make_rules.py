"""The pages of findings: one for each rule, and an index of all findings.

A page stands in ``hazards/pages``; ``make_pages.py`` writes the pages for the site. Needs neither torch nor a notebook.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # the package beside this file, whichever is installed

from inplace_magic.hazards import RULES  # noqa: E402
from inplace_magic.hazards.all_rules import page_of  # noqa: E402
from inplace_magic.hazards.of_paddle import NOT_FOR_PADDLE  # noqa: E402
from inplace_magic.hazards.rule import Rule as FromCode  # noqa: E402

SEVERITIES = {
    "error": "PyTorch raises, or will raise on backward",
    "silent": "a wrong result without an error",
    "warning": "likely not what was meant",
    "info": "worth knowing, nothing wrong",
}
"""Worst first, with what each means."""

_TOLD_BY = ("Found ", "Told ")
_MEANING = re.compile(r"^\* ``([a-z-]+)``: (.+(?:\n  .+)*)", re.MULTILINE)
"""``* ``code``: what happened``, on the page of a rule with several codes."""


@dataclass(frozen=True)
class Rule:
    """One rule, read from its source."""

    codes: tuple[str, ...]
    """The codes of its findings, in the order of the file."""
    severity: str
    text: str
    """The page as it stands there."""
    name: str
    """What it is called in ``of_paddle.py``: the heading of its page."""

    @property
    def page(self) -> str:
        """File name of its page: ``saved-tensor-overwritten.md``, or of several codes the module's name."""
        return f"{self.codes[0] if len(self.codes) == 1 else self.name}.md"

    @property
    def headline(self) -> str:
        """The first paragraph of the page, on one line."""
        return " ".join(self.text.split("\n\n", 1)[0].split())

    @property
    def facts(self) -> str:
        """The paragraphs that say what a finding is told by."""
        told = [block for block in self.text.split("\n\n") if block.startswith(_TOLD_BY)]
        if not told:
            raise SystemExit(f"The page of {self.name} has no paragraph that begins with one of {_TOLD_BY}.")
        return " ".join(" ".join(told).split())

    def meaning(self, code: str) -> str:
        """What happened, in one sentence."""
        told = dict(_MEANING.findall(self.text))
        return " ".join(told.get(code, self.headline).split())


def rules() -> list[Rule]:
    """Every rule, in the order of ``RULES``, which is the order in which they run."""
    return [_read(rule) for rule in RULES]


def _read(rule: FromCode) -> Rule:
    codes = tuple(rule.cures)
    return Rule(codes, rule.severity, page_of(codes[0]) or "", rule.name)


def page(rule: Rule) -> str:
    """The page of a rule as Markdown."""
    title = f"`{rule.codes[0]}`" if len(rule.codes) == 1 else rule.name.replace("-", " ").capitalize()
    codes = "" if len(rule.codes) == 1 else "Findings: " + ", ".join(f"`{code}`" for code in rule.codes) + ".\n\n"
    return (
        f"# {title}\n\n{codes}Severity: **{rule.severity}**, {SEVERITIES[rule.severity]}.\n\n{_markdown(rule.text)}\n\n"
        "---\n\n[All findings](index.md). This page stands in `inplace_magic/hazards/pages`.\n"
    )


def index(found: list[Rule]) -> str:
    """The table of all findings, worst first."""
    lines = [
        "# Findings",
        "",
        "What a report can say, worst first. Each page has a program that leads to the finding, and one that does not.",
        "",
        "| finding | severity | what happened |",
        "|---|---|---|",
    ]
    order = list(SEVERITIES)
    for rule in sorted(found, key=lambda rule: order.index(rule.severity)):
        for code in rule.codes:
            lines.append(f"| [`{code}`]({rule.page}) | {rule.severity} | {_inline(rule.meaning(code))} |")
    lines += ["", *(f"* **{name}**: {meaning}." for name, meaning in SEVERITIES.items()), ""]
    lines += ["[What each finding rests on](facts.md). [Findings on Paddle's tensors](paddle.md).", ""]
    return "\n".join(lines)


def facts(found: list[Rule]) -> str:
    """What each finding rests on, in the order of :func:`index`."""
    order = list(SEVERITIES)
    lines = ["# What each finding rests on", "", "No finding rests on what a variable is called.", ""]
    for rule in sorted(found, key=lambda rule: order.index(rule.severity)):
        codes = ", ".join(f"[`{code}`]({rule.page})" for code in rule.codes)
        lines.append(f"* {codes}: {_inline(rule.facts)}")
    lines += [""]
    return "\n".join(lines)


def of_paddle(found: list[Rule]) -> str:
    """Which rules run on Paddle's tensors, and why the others do not."""
    lines = [
        "# Findings on Paddle's tensors",
        "",
        "A rule that runs has a program in which it is found and one in which it is not (`tests/of_paddle/twins.md`); "
        "`tests/of_paddle/test_rules.py` runs both, and the first one once more as the finding's diff changes it.",
        "",
        "| rule | runs on Paddle's tensors |",
        "|---|---|",
    ]
    for rule in found:
        reason = NOT_FOR_PADDLE.get(rule.name)
        lines.append(f"| [`{rule.name}`]({rule.page}) | {'yes' if reason is None else f'no: {reason}'} |")
    lines += [""]
    return "\n".join(lines)


def _markdown(text: str) -> str:
    """A page's markup as Markdown: literal blocks become code, ``Bad::`` and ``Good::`` headings."""
    parts: list[str] = []
    code: list[str] = []
    good = False

    def close() -> None:
        if code:
            parts.append("```python\n" + "\n\n".join(code) + "\n```")
            code.clear()

    for block in text.split("\n\n"):
        if block.startswith("    "):
            # Comments in a column are well in a docstring; `ruff format` wants two spaces in a page.
            code.append("\n".join(re.sub(r"(?<=\S) {2,}#", "  #", line[4:]) for line in block.splitlines()))
            continue
        if code and good:
            close()
            parts.append("## Remarks")
            good = False
        close()
        good = good or block == "Good::"
        parts.append(f"## {block[:-2]}" if re.fullmatch(r"\w+::", block) else _inline(block))
    close()
    return "\n\n".join(parts)


def _inline(text: str) -> str:
    return text.replace("``", "`")


def pages() -> dict[str, str]:
    """Return the text of each page, by its path in docs/."""
    found = rules()
    whole = {"index.md": index(found), "facts.md": facts(found), "paddle.md": of_paddle(found)}
    return {f"rules/{name}": text for name, text in (whole | {rule.page: page(rule) for rule in found}).items()}
