"""The pages say what the code says, and their links lead somewhere."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from hazards.running import module_of
from scripts import ROOT, script

from inplace_magic.hazards import RULES, SEVERITIES
from inplace_magic.hazards.rule import Rule
from inplace_magic.magics.extension import MAGICS

DOCS = ROOT / "docs"
LINK = re.compile(r"(?<!\\)\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)


MAKER = script("docs/make_rules.py")
RULE_PAGES = MAKER.rules()
MADE_RULES = MAKER.pages()
MAGICS_MAKER = script("docs/make_magics.py")
ERRORS_MAKER = script("docs/make_errors.py")
PAGES_MAKER = script("docs/make_pages.py")


def is_made(path: Path) -> bool:
    """True of a page that a build of the site makes: git ignores it."""
    name = path.relative_to(DOCS).as_posix() if path.is_relative_to(DOCS) else ""
    return name in PAGES_MAKER.FILES or name.rpartition("/")[0] in PAGES_MAKER.FOLDERS


MARKDOWN = sorted(path for path in (*ROOT.glob("*.md"), *DOCS.rglob("*.md")) if not is_made(path))
FIRST_PAGE = DOCS / "index.md"
"""Of the site; nothing else that git has leads to a page that only the site has."""


def test_git_ignores_the_pages_that_are_made_and_a_page_of_something_gone_goes(tmp_path: Path) -> None:
    ignored = (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
    assert {
        *(f"docs/{folder}/" for folder in PAGES_MAKER.FOLDERS),
        *(f"docs/{file}" for file in PAGES_MAKER.FILES),
    } <= {*ignored}
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "gone.md").touch()
    count = PAGES_MAKER.write(tmp_path)
    written = [path.relative_to(tmp_path) for path in tmp_path.rglob("*.md")]
    assert len(written) == count > len(RULE_PAGES)
    assert [path for path in written if not is_made(DOCS / path)] == []


def test_every_rule_has_a_page_with_each_of_its_codes_and_a_row_in_the_index() -> None:
    index = MADE_RULES["rules/index.md"]
    assert [rule.name for rule in RULE_PAGES] == [rule.name for rule in RULES]
    for rule in RULE_PAGES:
        text = MADE_RULES[f"rules/{rule.page}"]
        for code in rule.codes:
            assert f"`{code}`" in text
            assert f"[`{code}`]({rule.page})" in index


@pytest.mark.parametrize("language", sorted(MAGICS_MAKER.PAGES))
def test_the_page_of_magics_has_each_magic_with_the_flags_of_its_parser(language: str) -> None:
    made = MAGICS_MAKER.pages()[MAGICS_MAKER.PAGES[language]]
    assert {name for _, name, _, _ in MAGICS} <= set(re.findall(r"^## `%+(\w+)", made, re.MULTILINE))
    for parser in MAGICS_MAKER.parsers():
        section = made.split(f"## `{parser.prog}`\n")[1].partition("\n## ")[0]
        assert [flag for action in parser._actions for flag in action.option_strings if flag not in section] == []
        assert (str(parser.description).strip() in section) == (language == "en")


def test_no_two_rules_share_a_code() -> None:
    codes = [code for rule in RULE_PAGES for code in rule.codes]
    assert len(codes) == len(set(codes))


def test_the_severities_are_those_of_the_findings_and_in_their_order() -> None:
    assert tuple(MAKER.SEVERITIES) == SEVERITIES
    assert {rule.severity for rule in RULE_PAGES} <= set(SEVERITIES)


@pytest.mark.parametrize("rule", RULE_PAGES, ids=lambda rule: rule.name)
def test_a_page_has_a_bad_and_a_good_program_that_are_python(rule: object) -> None:
    text = MADE_RULES[f"rules/{rule.page}"]  # type: ignore[attr-defined]  # a Rule of the loaded module
    for title in ("Bad", "Good"):
        program = re.search(rf"## {title}\n\n```python\n(.*?)```", text, re.DOTALL)
        assert program is not None, title
        ast.parse(program[1])


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_rule_has_tests(rule: Rule) -> None:
    module, name = module_of(rule).rpartition(".")[2], rule.name
    tests = [path.read_text(encoding="utf-8") for path in (ROOT / "tests" / "hazards").glob("test_*.py")]
    wanted = re.compile(rf"\bimport\b(.*|\s*\([^)]*)\b{module}\b|\"{name}\"")
    assert any(wanted.search(text) for text in tests)


@pytest.mark.parametrize("page", MARKDOWN, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_relative_link_leads_to_a_file_and_its_heading(page: Path) -> None:
    broken = []
    for target in LINK.findall(_prose(page)):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        if is_made(file) and page == FIRST_PAGE:
            continue  # a build of the site fails where there is none
        if is_made(file) or not file.exists() or (anchor and file.suffix == ".md" and anchor not in _headings(file)):
            broken.append(target)
    assert broken == []


@pytest.mark.parametrize("name", ["README.md", "docs/zh/README.md"])
def test_the_ratios_in_readme_are_those_of_the_measured_pages(name: str) -> None:
    measured = "".join((DOCS / "measured" / page).read_text(encoding="utf-8") for page in ("cost.md", "cuda.md"))
    ratios = re.findall(r"\b(\d+\.\d\d)(?= times|,| 倍)", (ROOT / name).read_text(encoding="utf-8"))
    assert len(ratios) >= 3
    assert [ratio for ratio in ratios if f" {ratio} " not in measured] == []


def _prose(page: Path) -> str:
    """A page without its code, where brackets are no links. The text of a link may be code: then it stays a link."""
    return CODE.sub("code", page.read_text(encoding="utf-8"))


def _headings(page: Path) -> set[str]:
    """The anchors that GitHub gives to a page's headings."""
    titles = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", ["how-it-works", "in-detail", "CONTRIBUTING"])
def test_every_file_that_the_map_names_is_there(page: str) -> None:
    text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    files = [f"/{path.relative_to(ROOT).as_posix()}" for path in ROOT.rglob("*.py") if ".venv" not in path.parts[0]]
    named = set(re.findall(r"`([a-z_/]+\.py)`", text))
    assert len(named) > 10
    assert {name for name in named if not any(file.endswith(f"/{name}") for file in files)} == set()
