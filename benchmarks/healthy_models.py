"""Healthy models under the watch: nothing changes, and nothing is found.

    python benchmarks/healthy_models.py [--write docs/measured/healthy-models.md] [--only llama gan] [--level ops] [-v]

Real training steps (forward with labels, backward, clipping, optimizer), three each, of tiny models with random
weights: the families of `transformers` in ``families.py``, where it is installed (``pip install transformers scipy
pillow``), and the torch-only programs of ``tests/healthy``. Each runs unwatched and watched at both levels, in three
ways: as one ``%%inplace_watch`` cell, as cells between ``%inplace_watch on`` and ``off``, and as a function under
``watch()``.

A row tells the torch calls of the watched cell, how many of them wrote in place, the findings of severity error,
silent or warning over all runs, and whether every loss, parameter, gradient and optimizer state was the same bit for
bit. The exit status is 0 when all are the same and nothing was found.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import sys
from collections.abc import Iterator
from dataclasses import dataclass
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
MISSING = "transformers is not installed, so its model families are left out: pip install transformers scipy pillow"
HEAD = """\
| model | trained by | calls | in-place calls | findings | same |
|---|---|--:|--:|--:|---|"""
PAGE = """\
# Healthy models under the watch

```
pip install transformers scipy pillow
python benchmarks/healthy_models.py --write docs/measured/healthy-models.md
```

Three training steps each of tiny models with random weights, and `generate()` where the model can; {versions}. *Calls*:
torch calls of the last run, including those that build the model. *Findings*: number of findings of severity `error`,
`silent` or `warning`, and of faults, over all watched runs: levels {levels}; as one cell, as cells between
`%inplace_watch on` and `off`, and as a function under `watch()`. *Same*: every loss, parameter, gradient, buffer and
optimizer state equals that of the unwatched run, bit for bit. The rows in small letters are the programs of
`tests/healthy/programs.md`.

{table}
"""


@dataclass(frozen=True)
class Case:
    """A program, and what it finds in its namespace."""

    name: str
    trained_by: str
    program: str
    names: dict[str, Any]


@dataclass(frozen=True)
class Row:
    """What all the runs of one model gave."""

    case: Case
    calls: int
    in_place: int
    alarms: list[str]
    differences: list[str]

    def __str__(self) -> str:
        counts = f"{self.calls:,} | {self.in_place:,} | {len(self.alarms)}"
        return f"| {self.case.name} | {self.case.trained_by} | {counts} | {'**no**' if self.differences else 'yes'} |"


def case_of(family: Family) -> Case:
    """Cells that build, train and evaluate a family, and let it generate."""
    program = TRAINING.format(prepare=family.prepare, optimizer=family.optimizer)
    optimizer = family.optimizer.removeprefix("torch.optim.").split("(")[0]
    how = [word for word in ("fused", "foreach", "momentum") if word in family.optimizer]
    trained_by = " ".join([optimizer, *how]) + (", generates" if family.generates else "")
    names = {"torch": torch, "build": family.build}
    return Case(family.name, trained_by, program + (GENERATION if family.generates else ""), names)


def cases() -> Iterator[Case]:
    """Every model that can run here; one line says so when `transformers` is not there."""
    for name, text in programs().items():
        yield Case(name, "its own loop", text, {})
    if importlib.util.find_spec("transformers") is None:
        print(MISSING)
        return
    import transformers

    transformers.logging.set_verbosity_error()
    yield from map(case_of, FAMILIES)


def row_of(shell: Any, case: Case, levels: list[str]) -> Row:
    """Runs one model in every way, unwatched and at each level."""
    calls = in_place = 0
    alarms: list[str] = []
    differences: list[str] = []
    for way in WAYS:
        plain = run(shell, case.program, way, None, case.names)
        for level in levels:
            watched = run(shell, case.program, way, level, case.names)
            alarms += [f"{way}, {level}: {line}" for line in watched.alarms]
            differences += [f"{way}, {level}: {path} is not the same" for path in changed(plain, watched)]
            if watched.report is not None:
                calls = len(watched.report.calls)
                in_place = sum(call.kind == "in-place" for call in watched.report.calls)
    return Row(case, calls, in_place, alarms, differences)


def versions() -> str:
    """``torch 2.13.0, transformers 5.23.0``, of what is installed."""
    found = [name for name in ("torch", "transformers") if importlib.util.find_spec(name) is not None]
    return ", ".join(f"{name} {importlib.metadata.version(name).split('+')[0]}" for name in found)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", default=[], help="parts of names")
    parser.add_argument("--level", choices=LEVELS, nargs="*", default=list(LEVELS), help="both, unless given")
    parser.add_argument("--write", type=Path, help="also write a Markdown page to this file")
    parser.add_argument("-v", action="store_true", help="print each finding and each changed value")
    options = parser.parse_args()
    torch.set_num_threads(1)
    config = Config()
    config.HistoryManager.hist_file = ":memory:"
    shell: Any = InteractiveShell.instance(config=config)
    shell.run_cell("%load_ext inplace_magic").raise_error()
    rows: list[Row] = []
    print(HEAD)
    for case in cases():
        if options.only and not any(word.lower() in case.name.lower() for word in options.only):
            continue
        row = row_of(shell, case, options.level)
        rows.append(row)
        print(row, flush=True)
        if options.v:
            print("".join(f"    {line}\n" for line in row.alarms + row.differences), end="")
    if options.write is not None:
        table = "\n".join([HEAD, *map(str, rows)])
        text = PAGE.format(versions=versions(), levels=" and ".join(f"`{one}`" for one in options.level), table=table)
        options.write.write_text(text, encoding="utf-8")
    return 1 if any(row.alarms or row.differences for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
