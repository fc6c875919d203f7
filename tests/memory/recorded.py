"""What a watch recorded on a real GPU, as a file: its tables and findings can be seen where there is none.

    python tests/memory/recorded.py FOLDER CARD DRIVER

writes ``tests/memory/recorded/CARD.json.xz`` anew, from a folder with figures (``figures.json``, as
``benchmarks/on_gpu.py`` writes it) and reports by name (``reports.json.gz``, each as ``Report.to_dict`` gives it).
"""

from __future__ import annotations

import gzip
import json
import lzma
import re
import sys
from functools import lru_cache
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parent.parent))

from stored import numbered  # found by the line above, when this is run and not imported

from inplace_magic.report import Report

FOLDER = Path(__file__).resolve().parent / "recorded"
KEPT = re.compile(r"lines_\w+|program_\w+|step_(lstm|gpt)_calls|step_lstm_ops|graph_calls|lstm_moved_calls")
"""Reports that are small, and one of each kind that is not."""
FIGURES = ("lines",)
_PATH = re.compile(r"/[^\s\"'()]+/([\w.]+\.py)")


@lru_cache
def recorded(card: str) -> dict[str, Any]:
    """Card (`device`), `driver`, `torch`, some `figures`, and `reports` by name, as ``Report.from_dict`` opens them."""
    found: dict[str, Any] = json.loads(lzma.decompress((FOLDER / f"{card}.json.xz").read_bytes()))
    return found


@lru_cache(maxsize=8)
def recorded_report(card: str, name: str) -> Report:
    """One report, with what the rules say of its trace now."""
    return Report.from_trace(Report.from_dict(recorded(card)["reports"][name]).trace)


def record(folder: Path, card: str, driver: str) -> None:
    """Writes the file of a card. Of paths the last part is kept; addresses stand there by the order in which they
    occur."""
    facts = json.loads((folder / "figures.json").read_text())
    reports = json.loads(gzip.decompress((folder / "reports.json.gz").read_bytes()))
    data = {
        "device": facts["device"],
        "driver": driver,
        "torch": facts["torch"],
        "figures": {name: facts["figures"][name] for name in FIGURES},
        "reports": {
            name: numbered({**_without_folders(report), "hazards": []}, {})
            for name, report in reports.items()
            if KEPT.fullmatch(name)
        },
    }
    text = json.dumps(data, separators=(",", ":"))
    (FOLDER / f"{card}.json.xz").write_bytes(lzma.compress(text.encode(), preset=9))


def _without_folders(value: Any) -> Any:
    if isinstance(value, dict):
        return {_without_folders(key): _without_folders(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_without_folders(part) for part in value]
    return _PATH.sub(r"\1", value) if isinstance(value, str) else value


if __name__ == "__main__":
    record(Path(sys.argv[1]), *sys.argv[2:4])
