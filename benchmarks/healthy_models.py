"""Healthy models under the watch: nothing changes, and nothing is found.

    python benchmarks/healthy_models.py [--only llama gan] [--levels calls ops] [--ways cell cells function] [-v]

Real training steps (forward with labels, backward, clipping, optimizer), three each, of tiny models with random weights: the
families of `transformers` in ``families.py``, where it is installed (``pip install transformers scipy pillow``), and the
torch-only programs of ``tests/healthy``. Each runs unwatched and watched at both levels, in three ways: as one
``%%inplace_watch`` cell, as cells between ``%inplace_watch on`` and ``off``, and as a function under ``watch()``.

A row tells the torch calls of the watched cell, how many of them wrote in place, the findings of severity error,
silent or warning over all runs, and whether every loss, parameter, gradient and optimizer state was the same bit for
bit. The exit status is 0 when all are the same and nothing was found.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
from families import FAMILIES, Family
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
from healthy.compare import LEVELS, WAYS, changed, programs, run

TRAINING = """\
model, batch = build()
{prepare}
optimizer = {optimizer}
losses = []
# %%
for step in range(3):
    optimizer.zero_grad()
    outputs = model(**batch)
    loss = outputs.loss
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    losses.append(loss.item())
# %%
model.eval()
with torch.no_grad():
    evaluated = model(**batch).loss.item()
"""
GENERATION = """\
prompt = {key: value for key, value in batch.items() if key in ("input_ids", "attention_mask", "input_features")}
tokens = model.generate(**prompt, max_new_tokens=6, do_sample=True)
"""


def text_of(family: Family) -> str:
    """The cells that train and evaluate a family."""
    training = TRAINING.format(prepare=family.prepare, optimizer=family.optimizer)
    return training + (GENERATION if family.generates else "")


def cases(only: list[str]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Name, program and namespace of each model; says so when `transformers` is not there."""
    wanted: Callable[[str], bool] = lambda name: not only or any(word.lower() in name.lower() for word in only)
    for name, text in programs().items():
        if wanted(name):
            yield name, text, {}
    if importlib.util.find_spec("transformers") is None:
        print(
            "transformers is not installed, so its model families are left out: pip install transformers scipy pillow"
        )
        return
    import transformers

    transformers.logging.set_verbosity_error()
    for family in FAMILIES:
        if wanted(family.name):
            yield family.name, text_of(family), {"torch": torch, "build": family.build}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", default=[], help="parts of names")
    parser.add_argument("--levels", nargs="*", choices=LEVELS, default=LEVELS)
    parser.add_argument("--ways", nargs="*", choices=WAYS, default=WAYS)
    parser.add_argument("-v", action="store_true", help="print each finding and each changed value in full")
    options = parser.parse_args()
    torch.set_num_threads(1)
    config = Config()
    config.HistoryManager.hist_file = ":memory:"
    shell = InteractiveShell.instance(config=config)
    shell.run_cell("%load_ext inplace_magic").raise_error()
    print(f"{'model':26} {'calls':>6} {'in-place':>8} {'findings':>8}  same")
    healthy = True
    for name, program, names in cases(options.only):
        calls = in_place = 0
        alarms: list[str] = []
        differ: list[str] = []
        for way in options.ways:
            plain = run(shell, program, way, None, names)
            for level in options.levels:
                watched = run(shell, program, way, level, names)
                alarms += [f"{way}, {level}: {line}" for line in watched.alarms]
                differ += [f"{way}, {level}: {path} changed" for path in changed(plain, watched)]
                if watched.report is not None:
                    calls = len(watched.report.calls)
                    in_place = sum(call.kind == "in-place" for call in watched.report.calls)
        print(f"{name:26} {calls:6} {in_place:8} {len(alarms):8}  {'no' if differ else 'yes'}", flush=True)
        if options.v:
            print(textwrap_lines(alarms + differ))
        healthy = healthy and not alarms and not differ
    return 0 if healthy else 1


def textwrap_lines(lines: list[str]) -> str:
    return "\n".join(f"    {line}" for line in lines[:20])


if __name__ == "__main__":
    sys.exit(main())
