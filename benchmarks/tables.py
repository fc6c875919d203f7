"""Tables in Markdown, and the results of ``run.py`` as a page: the same on the screen and in ``docs/measured``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any


def as_text(results: dict[str, Any]) -> str:
    """Markdown that reads well as it is."""
    versions = ", ".join(f"{name} {number or 'not installed'}" for name, number in results["versions"].items())
    machine = ", ".join(f"{name} {value}" for name, value in results["machine"].items())
    parts = [
        "# What a watch costs",
        "```\npip install .[bench]\npython benchmarks/run.py --write docs/measured/cost.md\n```",
        f"{versions}; {machine}. Times are of this machine; ratios are to the plain run of the same part, within one "
        "run, variants interleaved. *Spread* is the middle half of the runs, as a ratio too.",
    ]
    for title, rows in results["steps"].items():
        parts += [f"## {title}", table(("one training step", "runs", "median ms", "ratio", "spread"), map(_step, rows))]
    if results["events"]:
        header = ("event", "plain µs", "calls: added µs", "ops: added µs", "calls: kept bytes", "ops: kept bytes")
        parts += [
            "## One event",
            "Recorded in a tight loop on four elements; kept are the bytes that a watch holds until its report, "
            "of 8,000 events.",
            table(header, map(_event, results["events"])),
        ]
    if results["growth"]:
        header = ("cell", "level", "calls", "report s", "display s", "together s", "HTML bytes", "text bytes")
        parts += [
            "## From the end of the cell to the display",
            "*Report* is the record made readable, and all rules; *display* the page with its picture, and the text.",
            table(header, map(_growth, results["growth"])),
        ]
    if results.get("long"):
        parts += [
            "## Long loops",
            "Least processor times of three rounds, with the record and its findings, as ratios to the plain loop.",
            long_loops(results["long"]),
        ]
    parts.append(results["left"])
    return "\n\n".join(parts) + "\n"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table with columns as wide as their widest cell; the first is text, the others are numbers."""
    body = [header, *rows]
    widths = [max(len(row[column]) for row in body) for column in range(len(header))]

    def line(row: Sequence[str]) -> str:
        return f"| {row[0].ljust(widths[0])} | {' | '.join(map(str.rjust, row[1:], widths[1:]))} |"

    rule = f"|{'-' * (widths[0] + 2)}|{'|'.join('-' * (width + 1) + ':' for width in widths[1:])}|"
    return "\n".join([line(body[0]), rule, *map(line, body[1:])])


def long_loops(rows: Sequence[Mapping[str, Any]]) -> str:
    """A Markdown table of long loops, as ``long_loops.py`` gives them."""
    variants = tuple(dict.fromkeys(variant for row in rows for variant in row["ratios"]))
    header = ("loop", "plain s", *variants, "calls", "rows")
    body = [
        (
            *(row["loop"], f"{row['plain_s']:.3f}"),
            *(f"{row['ratios'][variant]:.2f}" if variant in row["ratios"] else "" for variant in variants),
            *(f"{row['ran']:,}", f"{row['rows']:,}"),
        )
        for row in rows
    ]
    return table(header, body)


def counts(first: str, columns: Sequence[str], rows: Mapping[str, Mapping[str, int]]) -> str:
    """A Markdown table of what was counted, as it stands in ``docs/measured/fixes.md``.

    Args:
        first: what the first column holds.
        columns: what is counted.
        rows: the counts by what stands in the first column.
    """
    lines = [
        (first, *columns),
        *((name, *(str(row.get(column, 0)) for column in columns)) for name, row in rows.items()),
    ]
    head, *body = (f"| {' | '.join(line)} |" for line in lines)
    return "\n".join([head, "|---" * (len(columns) + 1) + "|", *body])


def _step(row: dict[str, Any]) -> Sequence[str]:
    name = row["variant"]
    if row["part"] == "forward" and not name.startswith("plain"):
        name += " (forward only)"
    if "missing" in row:
        return name, "", "", row["missing"][:60], ""
    return name, str(row["runs"]), f"{row['median_ms']:.2f}", f"{row['ratio']:.2f}", f"{row['iqr_ratio']:.2f}"


def _event(row: dict[str, Any]) -> Sequence[str]:
    added = (f"{row['added_us'][level]:.1f}" for level in ("calls", "ops"))
    kept = (f"{row['kept_bytes'][level]:,.0f}" for level in ("calls", "ops"))
    return row["kind"], f"{row['plain_us']:.2f}", *added, *kept


def _growth(row: dict[str, Any]) -> Sequence[str]:
    together = row["report_s"] + row["display_s"]
    seconds = (f"{value:.3f}" for value in (row["report_s"], row["display_s"], together))
    return row["shape"], row["level"], f"{row['calls']:,}", *seconds, f"{row['html_bytes']:,}", f"{row['text_bytes']:,}"
