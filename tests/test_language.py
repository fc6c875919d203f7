"""The catalogues say in Chinese what the code says in English: all of it, and the same facts."""

from __future__ import annotations

import gettext
import string

import pytest
from scripts import script

from inplace_magic import language
from inplace_magic.errors import OptionError
from inplace_magic.language import _, ngettext, set_language, use_language

OTHERS = [name for name in language.LANGUAGES if name != "en"]


MAKER = script("docs/make_messages.py")
CATALOGUES = [(name, domain) for name in OTHERS for domain in language.DOMAINS]


def _forms(text: object) -> tuple[str, ...]:
    return tuple(text) if isinstance(text, (tuple, list)) else (str(text or ""),)


def _fields(text: str) -> set[str]:
    return {name for _text, name, _spec, _conversion in string.Formatter().parse(text) if name is not None}


def test_the_package_and_the_tool_know_the_same_catalogues() -> None:
    assert tuple(MAKER.DOMAINS) == language.DOMAINS
    assert sorted(folder.name for folder in language.FOLDER.iterdir()) == sorted(OTHERS)


@pytest.mark.parametrize(("name", "domain"), CATALOGUES)
def test_each_message_of_the_code_is_translated_and_no_other(name: str, domain: str) -> None:
    catalogue = MAKER.read(MAKER.path_of(name, domain), name)
    said = {(message.context, message.id) for message in MAKER.extracted(domain) if message.id}
    held = {(message.context, message.id): message for message in catalogue if message.id}
    assert set(held) == said, "run `python docs/make_messages.py`, then translate what is new"
    assert not catalogue.obsolete
    untold = [id for (_context, id), message in held.items() if message.fuzzy or not all(_forms(message.string))]
    assert untold == []


@pytest.mark.parametrize(("name", "domain"), CATALOGUES)
def test_a_translation_has_the_placeholders_of_its_message(name: str, domain: str) -> None:
    wrong = []
    for message in MAKER.read(MAKER.path_of(name, domain), name):
        if not message.id:
            continue
        original = set().union(*map(_fields, _forms(message.id)))
        wrong += [(message.id, text) for text in _forms(message.string) if _fields(text) != original]
    assert wrong == []


@pytest.mark.parametrize(("name", "domain"), CATALOGUES)
def test_a_compiled_catalogue_is_made_of_the_written_one(name: str, domain: str) -> None:
    path = MAKER.path_of(name, domain)
    with path.with_suffix(".mo").open("rb") as file:
        compiled = gettext.GNUTranslations(file)
    messages = [message for message in MAKER.read(path, name) if message.id]
    for message in messages:
        one, *many = _forms(message.id)
        if many:
            found = compiled.ngettext(one, many[0], 2)
        else:
            found = compiled.pgettext(message.context, one) if message.context else compiled.gettext(one)
        assert found == _forms(message.string)[0], "run `python docs/make_messages.py`"
    assert len(compiled._catalog) == len(messages) + 1  # type: ignore[attr-defined]  # and the header


def test_a_message_that_no_catalogue_has_is_shown_in_english() -> None:
    with use_language("zh"):
        assert _("not in any catalogue: {x}") == "not in any catalogue: {x}"
        assert ngettext("{n} unheard-of thing", "{n} unheard-of things", 2) == "{n} unheard-of things"


def test_the_language_of_a_block_ends_with_it() -> None:
    before = language.language()
    with use_language("zh"):
        assert language.language() == "zh"
        with use_language(None):
            assert language.language() == "zh"
    assert language.language() == before == "en"


def test_the_language_of_the_session_is_kept_until_it_is_set_anew() -> None:
    try:
        assert set_language("zh") == "zh"
        assert language.language() == "zh"
    finally:
        set_language("en")


def test_an_unknown_language_is_one_sentence_that_lists_those_there_are() -> None:
    with pytest.raises(OptionError, match=r"^language 'fr' does not exist; choose one of en, zh, auto\.$"):
        set_language("fr")
    assert language.language() == "en"


@pytest.mark.parametrize(
    ("variable", "notebook", "expected"),
    [
        ("zh_CN", "", "zh"),
        ("en", "/course/zh/01.ipynb", "en"),
        ("", "/course/zh/01.ipynb", "zh"),
        ("", "/course/en/01.ipynb", "en"),
    ],
)
def test_auto_asks_the_variable_then_the_folder_of_the_notebook(
    monkeypatch: pytest.MonkeyPatch, variable: str, notebook: str, expected: str
) -> None:
    monkeypatch.setenv(language.VARIABLE, variable)
    monkeypatch.setenv("JPY_SESSION_NAME", notebook)
    assert language.checked("auto") == expected
