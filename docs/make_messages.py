"""Brings the message catalogues up to date with the code, and compiles them.

    python docs/make_messages.py

Every ``_("…")``, ``ngettext`` and ``N_`` of the package goes into ``locale/<language>/LC_MESSAGES/*.po``;
what is new there has an empty ``msgstr`` to fill in, what the code no longer says is dropped. A test fails while a
message is not translated.

The package reads ``.mo`` files, which are compiled from the ``.po`` and not committed: by this command, by the start of
pytest, and by pip when it builds a wheel or makes an editable install (``Catalogues`` is a build hook of hatchling's).
"""

from __future__ import annotations

import ast
import io
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, BinaryIO

from babel.messages.catalog import Catalog
from babel.messages.extract import DEFAULT_KEYWORDS, extract_from_dir
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po
from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "inplace_magic"
LOCALE = PACKAGE / "locale"
DOMAIN_OF_FOLDER = {"lessons": "lessons"}
"""Folder of the package -> its catalogue; all others are in ``report``."""
_NO_DATE = datetime(2000, 1, 1, tzinfo=timezone.utc)
DOMAINS = ("report", *DOMAIN_OF_FOLDER.values())


def extracted(domain: str) -> Catalog:
    """The messages of the code that belong to a catalogue, without translations."""
    catalog = Catalog(domain=domain, project="inplace_magic", charset="utf-8")
    found = extract_from_dir(PACKAGE, [("lessons/exercises.md", _exercises), ("**.py", _calls)])
    for file, _line, message, comments, context in sorted(found, key=lambda entry: (entry[0], entry[1])):
        if DOMAIN_OF_FOLDER.get(Path(file).parts[0], DOMAINS[0]) == domain:
            where = (Path("inplace_magic", file).as_posix(), 0)
            catalog.add(message, locations=[where], auto_comments=comments, context=context)
    return catalog


def _calls(
    file: BinaryIO, *_settings: Any, **_options: Any
) -> Iterator[tuple[int, str, tuple[str | None, ...], list[str]]]:
    """The calls that mark messages, for Babel. Its own reader of Python does not look into f-strings."""
    for node in ast.walk(ast.parse(file.read())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in DEFAULT_KEYWORDS:
            texts = [arg.value if isinstance(arg, ast.Constant) else None for arg in node.args]
            if texts and isinstance(texts[0], str):
                yield node.lineno, node.func.id, tuple(texts), []


def _exercises(*_arguments: Any, **_options: Any) -> Iterator[tuple[int, str, str, list[str]]]:
    """The texts of the course's exercises, for Babel."""
    from inplace_magic.lessons.exercise import exercises

    for each in exercises().values():
        for text in (*each.hints, each.because):
            yield 0, "_", text, []


def path_of(language: str, domain: str) -> Path:
    return LOCALE / language / "LC_MESSAGES" / f"{domain}.po"


def read(path: Path, language: str) -> Catalog:
    """A catalogue as it is written; empty where there is no file."""
    if not path.exists():
        return Catalog(locale=language, domain=path.stem, project="inplace_magic", charset="utf-8")
    with path.open("rb") as file:
        return read_po(file, locale=language, domain=path.stem)


def compiled(catalog: Catalog) -> bytes:
    """The bytes of the ``.mo`` file, the same for the same messages."""
    catalog.creation_date = catalog.revision_date = _NO_DATE
    buffer = io.BytesIO()
    write_mo(buffer, catalog)
    return buffer.getvalue()


def compile_all() -> None:
    """Compile each catalogue whose ``.mo`` is missing or older than its ``.po``."""
    for path in LOCALE.rglob("*.po"):
        made = path.with_suffix(".mo")
        if not made.exists() or made.stat().st_mtime < path.stat().st_mtime:
            made.write_bytes(compiled(read(path, path.parent.parent.name)))


class Catalogues(BuildHookInterface[Any]):
    """Compiles the catalogues before hatchling collects the files of a wheel, or of an editable install."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called by hatchling; a file that git ignores is packed where it is named as an artifact."""
        compile_all()
        build_data["artifacts"].append("*.mo")


def written(catalog: Catalog) -> bytes:
    """The bytes of the ``.po`` file: no line numbers and no dates, which would change with every edit."""
    buffer = io.BytesIO()
    write_po(buffer, catalog, width=110, include_lineno=False, ignore_obsolete=True, omit_header=True)
    head = (
        'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=utf-8\\n"\n'
        f'"Language: {catalog.locale_identifier}\\n"\n"Plural-Forms: {catalog.plural_forms}\\n"\n\n'
    )
    return head.encode() + buffer.getvalue()


def main() -> None:
    """Update and compile every catalogue, and print how many messages wait for a translation."""
    for language in sorted(folder.name for folder in LOCALE.iterdir() if folder.is_dir()):
        for domain in DOMAINS:
            path = path_of(language, domain)
            catalog = read(path, language)
            catalog.update(extracted(domain), no_fuzzy_matching=True)
            path.write_bytes(written(catalog))
            waiting = sum(1 for message in catalog if message.id and not _translated(message.string))
            print(f"{path.relative_to(ROOT)}: {len(catalog)} messages, {waiting} to be translated")
    compile_all()


def _translated(string: object) -> bool:
    return all(string) if isinstance(string, tuple) else bool(string)


if __name__ == "__main__":
    main()
