"""Writes ``docs/measured/cuda.md`` from what was left in a folder where there was a GPU.

python benchmarks/on_gpu.py FOLDER
python benchmarks/on_gpu_models.py --json FOLDER/models.json
make cuda | tee FOLDER/pytest.txt
python benchmarks/on_gpu_page.py FOLDER DRIVER --write docs/measured/cuda.md
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from tables import table

WAYS = ("plain", "empty mode", "writes", "calls", "ops")
NETS = {"resnet": "ResNet-18 of width 16, 8 × 3 × 64 × 64", "gpt": "GPT block of width 64, 4 × 32 tokens"}


def page(facts: dict[str, Any], models: dict[str, Any], driver: str, tests: str) -> str:
    """Return the page.

    Args:
        facts: what ``figures.json`` has.
        models: what ``models.json`` has.
        driver: the GPU's.
        tests: the last line of pytest, or nothing.
    """
    figures = facts["figures"]
    rows = [row for row in models["models"].values() if "cost" in row]
    parts = [
        "# On a GPU",
        "```\npython benchmarks/on_gpu.py FOLDER\n"
        "python benchmarks/on_gpu_models.py --json FOLDER/models.json\nmake cuda | tee FOLDER/pytest.txt\n"
        "python benchmarks/on_gpu_page.py FOLDER DRIVER --write docs/measured/cuda.md\n```",
        f"{facts['device']}, driver {driver}, torch {facts['torch']}, Linux."
        + (f" The tests that need a GPU: {tests}." if tests else ""),
        "## What a watch costs",
        "Median of a training step with AdamW, in milliseconds between two synchronisations, and the ratio of each "
        "way of watching. A watch costs time of the host, which launches the kernels: a model with long kernels pays "
        "less.",
        table(("model", "plain ms", *(f"{way} ×" for way in WAYS[1:])), map(_cost, rows)),
        "Small, host-bound networks of the tests:",
        table(
            ("step", "plain ms", *(f"{way} ×" for way in WAYS[1:])),
            map(_overhead, _having({**NETS, **facts.get("nets", {})}, figures)),
        ),
        f"Reading the counters of one device takes {figures['us_a_reading']:.0f} µs, once for each call and, at level "
        "`ops`, once for each operator.",
        "## What a watch leaves as it is",
        "Two training steps of each model from one seed, with deterministic algorithms. Compared: weights, buffers "
        "and losses bit for bit, findings worse than info, and faults of the watch.",
        table(("model", "two unwatched runs", *(f"`{way}`" for way in WAYS[2:])), map(_harm, rows)),
        "One training step, unwatched and watched. PyTorch's profiler counts synchronisations, copies to the host and "
        "launches of the GPT block with a fused AdamW; the allocator counts blocks and bytes of the ResNet with SGD. "
        "Any dispatch mode makes PyTorch copy some gradients, so level `ops` has a few blocks more.",
        table(
            ("level", "", "synchronisations", "copies to the host", "launches", "blocks", "bytes allocated", "peak"),
            (row for level in WAYS[2:] for row in _left_alone(level, figures)),
        ),
        "## Bytes",
        "Change of `memory_allocated()` by line, unwatched. The table of a watch has the same numbers at both levels "
        "(`tests/memory/test_recorded.py`).",
        table(("line", "bytes"), zip(_code(figures), map("{:,}".format, figures["lines"]["bytes"]), strict=True)),
        "The forward pass of convolution, instance norm and ReLU allocates "
        f"{figures['relu_calls']['false'][0]:,} B, and {figures['relu_calls']['true'][0]:,} B with `inplace=True`: one "
        "result less, in the table and in the allocator.",
    ]
    return "\n\n".join(parts) + "\n"


def _having(nets: dict[str, str], figures: dict[str, Any]) -> list[tuple[str, dict[str, list[float]]]]:
    return [(title, figures[f"overhead_{name}"]) for name, title in nets.items()]


def _overhead(row: tuple[str, dict[str, list[float]]]) -> tuple[str, ...]:
    title, walls = row
    plain = walls["plain"][0]
    return title, f"{plain:.2f}", *(f"{walls[way][0] / plain:.2f}" for way in WAYS[1:])


def _cost(row: dict[str, Any]) -> tuple[str, ...]:
    cost = row["cost"]
    return row["title"], f"{cost['plain_ms']:.1f}", *(f"{cost[way]:.2f}" for way in WAYS[1:])


def _harm(row: dict[str, Any]) -> tuple[str, ...]:
    harm = row["harm"]
    same = "the same" if harm["repeatable"] else "differ"
    return row["title"], same, *(_one_level(harm[way], bool(harm["repeatable"])) for way in WAYS[2:])


def _one_level(run: dict[str, Any], repeatable: bool) -> str:
    same = "the same" if run["same"] else "DIFFERS" if repeatable else "differs"
    said = len(run["findings"]) + run["faults"]
    return same + (f", {said} findings or faults" if said else "")


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
    facts, models = (json.loads((options.folder / name).read_text()) for name in ("figures.json", "models.json"))
    text = page(facts, models, options.driver, tests)
    if options.write:
        options.write.write_text(text, encoding="utf-8")
    else:
        print(text)


if __name__ == "__main__":
    main()
