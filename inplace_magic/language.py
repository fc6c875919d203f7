"""The language of what a reader sees. English is what stands in the code; the others come from message catalogues.

Reader-facing text is a whole sentence with named placeholders, ``_("{name} was written.").format(name=name)``, so that
a translator can order it as the language wants. A message that a catalogue lacks is shown in English.
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
"""Environment variable that decides what ``auto`` means."""
DOMAINS = ("report", "lessons")
"""The catalogues of one language, each in files of its own: ``locale/zh/LC_MESSAGES/report.po``."""
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
"""What the messages, which are written of PyTorch, say of Paddle's tensors instead."""
_TORCH = re.compile(r"(?<![A-Za-z0-9_.])torch(?=(\.[a-z])?)(?![A-Za-z0-9_])")


def language() -> str:
    """Return the language in which messages are given now: that of the innermost :func:`use_language`, else the
    session's."""
    return _here.get() or _session


def set_language(name: str) -> str:
    """Sets the language of this process, ``en``, ``zh`` or ``auto`` (see :func:`preferred`), and gives its name.

    Raises:
        OptionError: another language.
    """
    global _session  # one process is one reader: a kernel, a script
    _session = checked(name)
    return _session


@contextmanager
def use_language(name: str | None, framework: str | None = None) -> Iterator[None]:
    """Messages made in the block are in this language, and about this framework's tensors; None leaves either as it is.

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
    """Return a message, or a piece of code of ours, as it is said of the present framework: ``with torch.no_grad():``
    as ``with paddle.no_grad():``. Only what we wrote goes through it, never the user's text."""
    if _framework.get() != "paddle":
        return text
    for ours, theirs in _IN_PADDLE:
        text = text.replace(ours, theirs)
    return _TORCH.sub(lambda found: "paddle" if found[1] else "Paddle", text)


def checked(name: str) -> str:
    """Return the language of that name, with ``auto`` resolved.

    Raises:
        OptionError: there is none; the text lists those there are.
    """
    if name == AUTO:
        return preferred()
    if name not in LANGUAGES:
        raise OptionError(
            _("language {name!r} does not exist; choose one of {choices}.").format(
                name=name, choices=", ".join((*LANGUAGES, AUTO))
            )
        )
    return name


def preferred() -> str:
    """What ``auto`` means: ``INPLACE_MAGIC_LANG``, else the folder of the notebook (``zh/01.ipynb``, which Jupyter
    tells its kernel in ``JPY_SESSION_NAME``), else the locale, else English."""
    folders = PurePosixPath(os.environ.get("JPY_SESSION_NAME", "").replace("\\", "/")).parts[:-1]
    hints = (os.environ.get(VARIABLE, ""), *reversed(folders), locale.getlocale()[0] or "")
    names = (hint.replace("-", "_").split("_")[0].lower() for hint in hints)
    return next((name for name in names if name in LANGUAGES), LANGUAGES[0])


def _(message: str) -> str:
    """The message in the current language."""
    name = language()
    return spelled(message if name == LANGUAGES[0] else _catalogue(name).gettext(message))


def ngettext(one: str, many: str, count: int) -> str:
    """Return the message for `count` things in the current language: in English `one` for 1, else `many`."""
    return spelled(_catalogue(language()).ngettext(one, many, count))


def pgettext(context: str, message: str) -> str:
    """Return the message in the current language, where the same English words mean different things; `context` says
    what."""
    return spelled(_catalogue(language()).pgettext(context, message))


def sentences(*parts: str) -> str:
    """Sentences one after another; with a space between them where the language has one."""
    return ("" if language() == "zh" else " ").join(part for part in parts if part)


def listed(parts: Iterable[str]) -> str:
    """``a, b, c``, as the language writes it."""
    return ("、" if language() == "zh" else ", ").join(parts)


def clauses(parts: Iterable[str]) -> str:
    """Clauses of one sentence, with the language's comma between them."""
    return ("，" if language() == "zh" else ", ").join(part for part in parts if part)


def together(parts: Sequence[str]) -> str:
    """``a and b and c``, as the language writes it."""
    said = parts[0]
    for part in parts[1:]:
        said = _("{some} and {more}").format(some=said, more=part)
    return said


def N_(message: str) -> str:
    """Return the message as it is, marked for the catalogues: for constants and records, which are translated when
    shown."""
    return message


@cache
def _catalogue(name: str) -> catalogues.NullTranslations:
    """Return all catalogues of a language as one; of English, and of a catalogue that is missing, the messages
    themselves."""
    found = catalogues.NullTranslations()
    for domain in reversed(DOMAINS if name != LANGUAGES[0] else ()):
        other = catalogues.translation(domain, FOLDER, languages=[name], fallback=True)
        other.add_fallback(found)
        found = other
    return found
