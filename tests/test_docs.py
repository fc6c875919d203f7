"""The pages say what the code says, and their links lead somewhere."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

import pytest
from scripts import ROOT, script

from inplace_magic.hazards import RULES, SEVERITIES
from inplace_magic.magics.extension import MAGICS

PAGES = ROOT / "docs" / "rules"
MARKDOWN = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
LINK = re.compile(r"(?<!\\)\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)


MAKER = script("docs/make_rules.py")
RULE_PAGES = MAKER.rules()
MAGICS_MAKER = script("docs/make_magics.py")


def test_the_pages_are_those_that_the_docstrings_make() -> None:
    made = MAKER.pages()
    assert {path.name for path in PAGES.glob("*.md")} == set(made)
    for name, text in made.items():
        written = (PAGES / name).read_text(encoding="utf-8")
        assert written == text, f"docs/rules/{name} is out of date: run `python docs/make_rules.py`"


def test_every_rule_has_a_page_with_each_of_its_codes_and_a_row_in_the_index() -> None:
    index = (PAGES / "index.md").read_text(encoding="utf-8")
    assert [rule.name for rule in RULE_PAGES] == [rule.name for rule in RULES]
    for rule in RULE_PAGES:
        text = (PAGES / rule.page).read_text(encoding="utf-8")
        for code in rule.codes:
            assert f"`{code}`" in text
            assert f"[`{code}`]({rule.page})" in index


def test_the_page_of_magics_has_each_magic_with_the_flags_of_its_parser() -> None:
    made = MAGICS_MAKER.page()
    assert MAGICS_MAKER.PAGE.read_text(encoding="utf-8") == made, "run `python docs/make_magics.py`"
    assert {name for _, name, _, _ in MAGICS} <= set(re.findall(r"^## `%+(\w+)", made, re.MULTILINE))
    for parser in MAGICS_MAKER.parsers():
        section = made.split(f"## `{parser.prog}`\n")[1].partition("\n## ")[0]
        assert [flag for action in parser._actions for flag in action.option_strings if flag not in section] == []


def test_no_two_rules_share_a_code() -> None:
    codes = [code for rule in RULE_PAGES for code in rule.codes]
    assert len(codes) == len(set(codes))


def test_the_severities_are_those_of_the_findings_and_in_their_order() -> None:
    assert tuple(MAKER.SEVERITIES) == SEVERITIES
    assert {rule.severity for rule in RULE_PAGES} <= set(SEVERITIES)


def test_every_code_that_a_rule_gives_is_a_constant_of_its_module() -> None:
    for rule, page in zip(RULES, RULE_PAGES, strict=True):
        if rule.code:
            continue
        module = sys.modules[rule.module]
        assert set(page.codes) <= {value for value in vars(module).values() if isinstance(value, str)}


@pytest.mark.parametrize("rule", RULE_PAGES, ids=lambda rule: rule.name)
def test_a_page_has_a_bad_and_a_good_program_that_are_python(rule: object) -> None:
    text = (PAGES / rule.page).read_text(encoding="utf-8")  # type: ignore[attr-defined]  # a Rule of the loaded module
    for title in ("Bad", "Good"):
        program = re.search(rf"## {title}\n\n```python\n(.*?)```", text, re.DOTALL)
        assert program is not None, title
        ast.parse(program[1])


@pytest.mark.parametrize("rule", RULE_PAGES, ids=lambda rule: rule.name)
def test_a_rule_has_tests(rule: object) -> None:
    name, module = rule.name, rule.module  # type: ignore[attr-defined]  # as above
    tests = [path.read_text(encoding="utf-8") for path in (ROOT / "tests" / "hazards").glob("test_*.py")]
    imported = rf"\bimport\b(.*|\s*\([^)]*)\b{module}\b"
    assert any(f'"{name}"' in text or re.search(imported, text) for text in tests)


@pytest.mark.parametrize("page", MARKDOWN, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_relative_link_leads_to_a_file_and_its_heading(page: Path) -> None:
    broken = []
    for target in LINK.findall(_prose(page)):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        if not file.exists() or (anchor and file.suffix == ".md" and anchor not in _headings(file)):
            broken.append(target)
    assert broken == []


def _prose(page: Path) -> str:
    """A page without its code, where brackets are no links. The text of a link may be code: then it stays a link."""
    return CODE.sub("code", page.read_text(encoding="utf-8"))


def _headings(page: Path) -> set[str]:
    """The anchors that GitHub gives to a page's headings."""
    titles = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}
