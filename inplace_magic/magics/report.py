"""``%inplace_report``: a report shown again, the last one or one by its name."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from IPython.core.error import UsageError

from inplace_magic.language import N_, _, listed
from inplace_magic.magics.cell_transform import MAGIC
from inplace_magic.magics.output import show
from inplace_magic.record.options import ShowOptions

if TYPE_CHECKING:
    from inplace_magic.report import Report

REPORT_HELP = N_("""Show a report of %%inplace_watch again: %inplace_report [NAME]

Without NAME the last one; with NAME the one that `%%inplace_watch -o NAME` bound.""")


class Host(Protocol):
    """What this needs of the extension: the shell, and the last report."""

    shell: Any
    last: tuple[Report, ShowOptions] | None


def report_magic(host: Host) -> Callable[[str], None]:
    """The line magic ``%inplace_report``."""

    def inplace_report(line: str) -> None:
        from inplace_magic.report import Report

        name = line.strip()
        names = host.shell.user_ns
        if name in ("-h", "--help"):
            print(_(REPORT_HELP))
        elif not name:
            if host.last is None:
                raise UsageError(
                    _("There is no report yet: run a cell with `{magic}` on its first line.").format(magic=MAGIC)
                )
            show(host.shell, *host.last)
        elif isinstance(names.get(name), Report):
            show(host.shell, names[name], ShowOptions())
        else:
            kept = sorted(key for key, value in names.items() if isinstance(value, Report))
            told = (
                _("`{name}` is no report; the reports are: {reports}.")
                if kept
                else _("`{name}` is no report; `{magic} -o {name}` makes one.")
            )
            raise UsageError(told.format(name=name, reports=listed(kept), magic=MAGIC))

    inplace_report.__doc__ = _(REPORT_HELP)
    return inplace_report
