"""Writes ``docs/measured/cuda.md`` from what ``benchmarks/on_gpu.py`` left in a folder.

    python benchmarks/on_gpu_page.py FOLDER DRIVER --write docs/measured/cuda.md

The folder has ``cuda_check.json``, and ``pytest.txt`` where the tests that need a GPU ran as well. Checks and their
results are in the first where there were some.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from tables import table

WAYS = ("plain", "empty mode", "writes", "calls", "ops")
NETS = {"resnet": "ResNet-18 of width 16, 8 × 3 × 64 × 64", "gpt": "GPT block of width 64, 4 × 32 tokens"}


def page(facts: dict[str, Any], driver: str, tests: str) -> str:
    """The page.

    Args:
        facts: what ``cuda_check.json`` has.
        driver: the GPU's.
        tests: the last line of pytest, or nothing.
    """
    figures, results = facts["figures"], facts["results"]
    words = [word for word, *_ in results.values()]
    failed = [f"- `{name}`" for name, (word, *_) in results.items() if word == "FAIL"]
    parts = [
        "# On a GPU",
        "```\npython benchmarks/on_gpu.py FOLDER\n"
        "python benchmarks/on_gpu_page.py FOLDER DRIVER --write docs/measured/cuda.md\n```",
        f"{facts['device']}, driver {driver}, torch {facts['torch']}, Linux."
        + (f" Of {len(words)} checks {words.count('ok')} passed and {words.count('FAIL')} failed." if words else "")
        + (f" The tests that need a GPU: {tests}." if tests else ""),
        *(("What failed:", "\n".join(failed)) if failed else ()),
        "## What a watch costs",
        "The median of ten training steps, in milliseconds between two waits for the device. Steps as small as these "
        "are bound by the host, which launches kernels one by one: the ratios are the host's, and a large model, whose "
        "kernels take longer than their launches, pays less.",
        table(
            ("step", "plain ms", *(f"{way} ×" for way in WAYS[1:])),
            map(_overhead, _having({**NETS, **facts.get("nets", {})}, figures)),
        ),
        f"One look at the counters of one device takes {figures['us_a_reading']:.0f} µs; there is one as each call "
        "begins and, at level `ops`, one as each operator begins.",
        "## What a watch leaves as it is",
        "One training step, unwatched and watched. Synchronisations, copies to the host and launches are those of the "
        "GPT block with a fused AdamW, as PyTorch's profiler counts them; blocks and bytes those of the ResNet with "
        "SGD, as the allocator does. A dispatch mode, also an empty one, makes PyTorch copy some gradients: so level "
        "`ops` has a few blocks more.",
        table(
            ("level", "", "synchronisations", "copies to the host", "launches", "blocks", "bytes allocated", "peak"),
            (row for level in WAYS[2:] for row in _left_alone(level, figures)),
        ),
        "## Bytes",
        "What `memory_allocated()` says of each line, unwatched. The table of a watch says the same of each, at both "
        "levels (`tests/memory/test_recorded.py`).",
        table(("line", "bytes"), zip(_code(figures), map("{:,}".format, figures["lines"]["bytes"]), strict=True)),
        "The forward pass of convolution, instance norm and ReLU allocates "
        f"{figures['relu_calls']['false'][0]:,} B, and {figures['relu_calls']['true'][0]:,} B with `inplace=True`: one "
        "result less, by the table and by the allocator.",
    ]
    return "\n\n".join(parts) + "\n"


def _having(nets: dict[str, str], figures: dict[str, Any]) -> list[tuple[str, dict[str, list[float]]]]:
    return [(title, figures[f"overhead_{name}"]) for name, title in nets.items()]


def _overhead(row: tuple[str, dict[str, list[float]]]) -> tuple[str, ...]:
    title, walls = row
    plain = walls["plain"][0]
    return title, f"{plain:.2f}", *(f"{walls[way][0] / plain:.2f}" for way in WAYS[1:])


def _left_alone(level: str, figures: dict[str, Any]) -> list[tuple[str, ...]]:
    rows = []
    for who, calls, counts in zip(
        ("unwatched", "watched"), figures[f"cuda_calls_{level}"], figures[f"counts_{level}"], strict=True
    ):
        seen = (str(calls.get(key, 0)) for key in ("Synchronize", "DtoH", "cudaLaunchKernel"))
        numbers = (f"{counts[key]:,}" for key in ("allocation", "allocated_bytes", "peak"))
        rows.append((f"`{level}`", who, *seen, *numbers))
    return rows


def _code(figures: dict[str, Any]) -> list[str]:
    return [f"`{line}`" for line in figures["lines"]["code"]]


def main() -> None:
    """Writes the page, or prints it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("driver")
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    ran = options.folder / "pytest.txt"
    lines = ran.read_text().splitlines() if ran.exists() else []
    tests = next((line.rpartition(" in ")[0] for line in reversed(lines) if " passed" in line), "")
    facts = json.loads((options.folder / "cuda_check.json").read_text())
    text = page(facts, options.driver, tests)
    if options.write:
        options.write.write_text(text, encoding="utf-8")
    else:
        print(text)


if __name__ == "__main__":
    main()
