"""Scores `%%inplace_watch` on the labelled Paddle programs: ``python tests/of_paddle/score.py [-v] [--only NAME ...]``.

Every program is run twice as a cell of an IPython shell: plainly, and watched. Line numbers in ``programs.md``
count the magic as line 1. Figures, each `right/asked`:

    proven    what the label says, by Paddle alone: it raises; or its gradient differs from the reference, or is equal
    same      the watched run ended as the plain one: error text, traceback, every tensor, gradient and version
    culprit   the first finding's `mutation` is the labelled line
    saver     and its `saved` is the labelled line
    versions  and it gives the versions that Paddle's error names
    variable  and names the labelled variable
    quiet     harmless programs without an error, silent or warning finding
"""

from __future__ import annotations

import argparse
import re
import sys
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

sys.path.append(str(Path(__file__).resolve().parents[1] / "programs"))

import packed  # found by the line above

PROGRAMS = Path(__file__).parent / "programs.md"
ALARM = {"error", "silent", "warning"}


def cases() -> dict[str, dict[str, Any]]:
    """The labels by the names of the programs."""
    return {case["case"]: case for case in packed.cases_in(PROGRAMS)}


def source_of(name: str) -> str:
    """The text of a program."""
    return packed.source_of(PROGRAMS, name)


def run(shell: Any, cell: str) -> tuple[BaseException | None, dict[str, Any]]:
    """What a cell raised in a fresh namespace, and that namespace."""
    shell.reset(new_session=False)
    with capture_output(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if cell.startswith("%%"):
            shell.run_cell("%load_ext inplace_magic")
        result = shell.run_cell(cell)
    return result.error_in_exec or result.error_before_exec, dict(shell.user_ns)


def state_of(names: dict[str, Any]) -> dict[str, Any]:
    """Bytes, version and gradient of every tensor that the names reach."""
    import paddle

    found: dict[str, Any] = {}
    for name, value in names.items():
        if name.startswith("_"):
            continue
        tensors = {name: value} if isinstance(value, paddle.Tensor) else {}
        if isinstance(value, paddle.nn.Layer):
            tensors = {f"{name}.{path}": tensor for path, tensor in value.state_dict().items()}
        for path, tensor in tensors.items():
            grad = tensor.grad
            found[path] = (
                tensor.numpy().tobytes(),
                tensor.inplace_version,
                tensor.stop_gradient,
                None if grad is None else grad.numpy().tobytes(),
            )
    return found


def told(error: BaseException | None) -> tuple[str, list[tuple[str, str, int | None]]]:
    """Type and text of an error, without the number of a name (Paddle counts tensors on from run to run), and the
    entries of its traceback below the cell."""
    entries = [] if error is None else traceback.extract_tb(error.__traceback__)
    below = [(entry.filename, entry.name, entry.lineno) for entry in entries if "ipython-input" not in entry.filename]
    return re.sub(r"_\d+(?=[).])", "", f"{type(error).__name__}: {error}"), below


def is_proven(case: dict[str, Any], raised: BaseException | None, names: dict[str, Any]) -> bool:
    """Whether the unwatched run shows what the label says."""
    import paddle

    text = str(raised) if raised is not None else ""
    if case["symptom"] == "backward_error":
        return "modified by an inplace operation" in text
    if case["symptom"] == "leaf_error":
        return "Leaf " in text
    if raised is not None:
        return False
    if not case["reference"]:
        return case["symptom"] == "harmless"
    exec("\n".join(case["reference"]), names)
    equal = bool(paddle.allclose(names["got"], names["want"]))
    return equal == (case["symptom"] == "harmless")


def judge(case: dict[str, Any], report: Any, raised: BaseException | None) -> Iterator[tuple[str, bool]]:
    """The figures of one report."""
    serious = [finding for finding in report.hazards if finding.severity in ALARM]
    if case["symptom"] == "harmless":
        yield "quiet", not serious
        return
    first = serious[0] if serious else None
    site = first.mutation if first is not None else None
    yield "culprit", site is not None and site.line == case["mutating_line"]
    if case["saving_line"] is not None:
        saved = first.saved if first is not None else None
        yield "saver", saved is not None and saved.line == case["saving_line"]
    versions = re.search(r"Its version is (\d+) but the expected version is (\d+)", str(raised))
    if versions is not None:
        told = (first.found_version, first.expected_version) if first is not None else None
        yield "versions", told == (int(versions[1]), int(versions[2]))
    if case["variable"] is not None:
        yield "variable", first is not None and first.variable == case["variable"]


def score(shell: Any, case: dict[str, Any]) -> tuple[Any, list[tuple[str, bool]]]:
    """The report of the watched run, and all figures."""
    source = source_of(case["case"])
    raised, names = run(shell, source)
    plain = state_of(names)
    proven = is_proven(case, raised, names)
    again, watched = run(shell, f"%%inplace_watch -o report\n{source}")
    report = watched.get("report")
    same = told(raised) == told(again) and plain == state_of(watched)
    figures = [("proven", proven), ("same", same)]
    if report is not None:
        figures += judge(case, report, raised)
        figures.append(("no faults", not report.faults))
    return report, figures


def main() -> int:
    """Prints the figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("-v", action="store_true")
    parser.add_argument("--only", nargs="*")
    options = parser.parse_args()
    shell = InteractiveShell.instance()
    right: Counter[str] = Counter()
    asked: Counter[str] = Counter()
    for name, case in cases().items():
        if options.only and name not in options.only:
            continue
        report, figures = score(shell, case)
        for figure, good in figures:
            right[figure] += good
            asked[figure] += 1
        wrong = [figure for figure, good in figures if not good]
        if options.v or wrong:
            print(f"{name} ({case['symptom']}): {'wrong: ' + ', '.join(wrong) if wrong else 'right'}")
            print(f"    {report.verdict if report is not None else 'no report'}")
    print("  ".join(f"{figure} {right[figure]}/{asked[figure]}" for figure in asked))
    return 0 if right == asked else 1


if __name__ == "__main__":
    sys.exit(main())
