"""The language of sentences for readers: English from the code, other languages from message catalogues.

Write a whole sentence with named placeholders, ``_("{name} was written.").format(name=name)``, so that a translator can
order the words. A message without translation appears in English.
"""

from __future__ import annotations

import gettext as catalogues
import locale
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path, PurePosixPath

from inplace_magic.errors import OptionError

LANGUAGES = ("en", "zh")
AUTO = "auto"
VARIABLE = "INPLACE_MAGIC_LANG"
"""Environment variable that sets the language of ``auto``."""
DOMAINS = ("report", "lessons")
"""The catalogues of one language, one file each: ``locale/zh/LC_MESSAGES/report.po``."""
FOLDER = Path(__file__).parent / "locale"

_session = LANGUAGES[0]
_here: ContextVar[str | None] = ContextVar("inplace_magic_language", default=None)
_framework: ContextVar[str] = ContextVar("inplace_magic_framework", default="torch")

_IN_PADDLE = (
    ("PyTorch", "Paddle"),
    ("torch.autograd.grad", "paddle.grad"),
    ("torch.utils.checkpoint", "paddle.distributed.fleet.utils.recompute"),
    ("requires grad", "has `stop_gradient=False`"),
    ("model.zero_grad()", "model.clear_gradients()"),
    ("zero_grad()", "clear_grad()"),
    ("recurse=False", "include_sublayers=False"),
    ("`checkpoint`", "`recompute`"),
    (".bool()", '.astype("bool")'),
    (".long()", '.astype("int64")'),
    ("{path}.new_tensor({value})", "paddle.to_tensor({value}, dtype={path}.dtype)"),
)
"""Replacements that turn a message about PyTorch into one about Paddle."""
_TORCH = re.compile(r"(?<![A-Za-z0-9_.])torch(?=(\.[a-z])?)(?![A-Za-z0-9_])")


def language() -> str:
    """Return the current language: that of the innermost :func:`use_language`, else the session's."""
    return _here.get() or _session


def set_language(name: str) -> str:
    """Set the language of this process, ``en``, ``zh`` or ``auto`` (see :func:`preferred`), and return its name.

    Raises:
        OptionError: an unknown language.
    """
    global _session  # one process is one reader: a kernel, a script
    _session = checked(name)
    return _session


@contextmanager
def use_language(name: str | None, framework: str | None = None) -> Iterator[None]:
    """In this block, make messages in this language and about this framework's tensors; None changes nothing.

    Raises:
        OptionError: a language that does not exist.
    """
    token = _here.set(checked(name) if name is not None else _here.get())
    about = _framework.set(framework if framework is not None else _framework.get())
    try:
        yield
    finally:
        _framework.reset(about)
        _here.reset(token)


def spelled(text: str) -> str:
    """Return a message, or our own code, for the current framework: ``with torch.no_grad():`` becomes ``with
    paddle.no_grad():``. Never pass the user's text through it."""
    if _framework.get() != "paddle":
        return text
    for ours, theirs in _IN_PADDLE:
        text = text.replace(ours, theirs)
    return _TORCH.sub(lambda found: "paddle" if found[1] else "Paddle", text)


def checked(name: str) -> str:
    """Return the language of that name, with ``auto`` resolved.

    Raises:
        OptionError: an unknown language; the text lists the known ones.
    """
    if name == AUTO:
        return preferred()
    if name not in LANGUAGES:
        text = _("language {name!r} does not exist; choose one of {choices}.")
        raise OptionError(text.format(name=name, choices=", ".join((*LANGUAGES, AUTO))))
    return name


def preferred() -> str:
    """Return the language of ``auto``: ``INPLACE_MAGIC_LANG``, else the notebook's folder (``zh/01.ipynb``, from
    ``JPY_SESSION_NAME``), else the locale, else English."""
    folders = PurePosixPath(os.environ.get("JPY_SESSION_NAME", "").replace("\\", "/")).parts[:-1]
    hints = (os.environ.get(VARIABLE, ""), *reversed(folders), locale.getlocale()[0] or "")
    names = (hint.replace("-", "_").split("_")[0].lower() for hint in hints)
    return next((name for name in names if name in LANGUAGES), LANGUAGES[0])


def _(message: str) -> str:
    """Return the message in the current language."""
    name = language()
    return spelled(message if name == LANGUAGES[0] else _catalogue(name).gettext(message))


def ngettext(one: str, many: str, count: int) -> str:
    """Return the message for `count` things in the current language: in English `one` for 1, else `many`."""
    return spelled(_catalogue(language()).ngettext(one, many, count))


def sentences(*parts: str) -> str:
    """Join sentences, with a space if the language has one."""
    return ("" if language() == "zh" else " ").join(part for part in parts if part)


def listed(parts: Iterable[str]) -> str:
    """Return ``a, b, c`` in the language's punctuation."""
    return ("、" if language() == "zh" else ", ").join(parts)


def clauses(parts: Iterable[str]) -> str:
    """Join clauses of one sentence with the language's comma."""
    return ("，" if language() == "zh" else ", ").join(part for part in parts if part)


def together(parts: Sequence[str]) -> str:
    """Return ``a and b and c`` in the current language."""
    said = parts[0]
    for part in parts[1:]:
        said = _("{some} and {more}").format(some=said, more=part)
    return said


def N_(message: str) -> str:
    """Mark a message for the catalogues and return it unchanged, for constants and records that are translated when
    shown."""
    return message


@cache
def _catalogue(name: str) -> catalogues.NullTranslations:
    """Return all catalogues of a language as one. English, or a missing catalogue, returns the messages themselves."""
    found = catalogues.NullTranslations()
    for domain in reversed(DOMAINS if name != LANGUAGES[0] else ()):
        other = catalogues.translation(domain, FOLDER, languages=[name], fallback=True)
        other.add_fallback(found)
        found = other
    return found


def bytes_of(count: int) -> str:
    """``160 B``, ``1.5 MiB``; a negative number keeps its sign."""
    if abs(count) < 1024:
        return f"{count} B"
    amount = float(count)
    for unit in ("KiB", "MiB", "GiB"):
        amount /= 1024
        if abs(amount) < 1024:
            return f"{amount:.1f} {unit}"
    return f"{amount / 1024:.1f} TiB"
