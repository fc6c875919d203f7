"""``python -m inplace_magic --startup``: every notebook and every IPython of this user loads the extension by itself.

IPython reads ``ipython_config.py`` of its default profile when a shell or a kernel starts. A few lines at the end of
that file, between two comments, load the extension; the rest of the file stays as it is.
"""

from __future__ import annotations

import re
from pathlib import Path

from inplace_magic.errors import OptionError
from inplace_magic.language import _

FIRST = "# >>> inplace_magic: `python -m inplace_magic --no-startup` takes these lines out again"
LAST = "# <<< inplace_magic"
LINES = f"""\
{FIRST}
# An autograd error of a cell gets its cause below it; loading takes a few hundredths of a second and imports no torch.
from importlib.util import find_spec

if find_spec("inplace_magic") is not None:  # in environments that have it
    c.InteractiveShellApp.extensions.append("inplace_magic")
{LAST}
"""
_BLOCK = re.compile(rf"(\r?\n|\A){re.escape(FIRST)}\r?\n.*?^{re.escape(LAST)}(\r?\n|\Z)", re.DOTALL | re.MULTILINE)


def add() -> str:
    """Write the lines and return a sentence on the changed file.

    Raises:
        OptionError: IPython is not installed, or the file cannot be written.
    """
    file = _file()
    before = _text(file)
    if before is not None and _BLOCK.search(before):
        return _("{file} loads inplace_magic already; nothing was changed.").format(file=file)
    _write(file, LINES if before is None else f"{before}\n{LINES}")
    text = _("{lines}\nwas written to {file}: new kernels and shells load inplace_magic by themselves.")
    return text.format(lines=LINES.rstrip(), file=file)


def remove() -> str:
    """Remove the lines and return a sentence on the changed file.

    Raises:
        OptionError: as :func:`add`.
    """
    file = _file()
    before = _text(file)
    if before is None or not _BLOCK.search(before):
        return _("{file} has no lines of inplace_magic; nothing was changed.").format(file=file)
    rest = _BLOCK.sub("", before)
    _write(file, rest if rest or before[:1] in "\r\n" else None)
    return _("The lines of inplace_magic were taken out of {file}.").format(file=file)


def _file() -> Path:
    try:
        from IPython.paths import get_ipython_dir
    except ImportError:
        raise OptionError(_("IPython is not installed: `pip install ipython`.")) from None
    return Path(get_ipython_dir()) / "profile_default" / "ipython_config.py"


def _text(file: Path) -> str | None:
    """Return the file's text, its line ends as they are; None where there is none."""
    try:
        return file.read_bytes().decode("utf-8", "surrogateescape")
    except FileNotFoundError:
        return None
    except OSError as error:
        text = _("{name!r} cannot be read: {reason}.")
        raise OptionError(text.format(name=str(file), reason=error.strerror)) from None


def _write(file: Path, text: str | None) -> None:
    """Writes the file; takes it away where nothing is left of it."""
    try:
        if text is None:
            file.unlink()
            return
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode("utf-8", "surrogateescape"))
    except OSError as error:
        sentence = _("{name!r} cannot be written: {reason}.")
        raise OptionError(sentence.format(name=str(file), reason=error.strerror)) from None
