"""How many mistakes made by hand the tests catch: thirty lines of rules, renderers and the recorder, one by one.

    python benchmarks/mutations.py [--only NUMBER ...]

A copy of the checkout gets one change of :data:`MUTATIONS`, the tests of its room run until the first failure, and the
change is taken back. Printed is a line for each mutation, and the sum. ``make test`` runs all tests that stand here. It
takes half an hour on two cores.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent


class Mutation(NamedTuple):
    """One mistake."""

    file: str
    """In ``inplace_magic/``."""
    before: str
    """Stands in the file once."""
    after: str
    tests: str
    """In ``tests/``, the likeliest first."""


MUTATIONS = (
    Mutation(
        "capture/results.py",
        "if version != seen[VERSION]:",
        "if version > seen[VERSION] + 1:",
        "capture/test_recorder.py capture/test_versions.py",
    ),
    Mutation(
        "capture/results.py",
        "if at == len(found):",
        "if at > len(found):",
        "capture/test_many_tensors.py capture/test_recorder.py capture/test_describe.py",
    ),
    Mutation(
        "capture/identity.py",
        "if record is not None and record() is not tensor:",
        "if record is not None and False:",
        "capture/test_identity.py capture/test_addresses.py capture/test_addresses_again.py",
    ),
    Mutation(
        "capture/callsite.py",
        "if root is not None and not root.f_code.co_filename.startswith(OURS):",
        "if root is not None and root.f_code.co_filename.startswith(OURS):",
        "capture/test_callsite.py capture/test_own_module.py",
    ),
    Mutation(
        "capture/torch/uncounted.py",
        "if found is not None and found != value:",
        "if found is not None and found == value:",
        "capture/test_uncounted.py",
    ),
    Mutation(
        "capture/recorder.py",
        "if latest is None or latest[VERSION] != version:",
        "if latest is None:",
        "capture/test_versions.py capture/test_recorder.py",
    ),
    Mutation(
        "capture/past/room.py",
        "keep = position >= older or times",
        "keep = position >= older and times",
        "no_harm/test_long_runs.py capture/test_packed.py",
    ),
    Mutation(
        "analysis/accesses.py",
        "write.after > version]",
        "write.after >= version]",
        "analysis/test_story.py hazards/test_saved_tensor_overwritten.py",
    ),
    Mutation(
        "analysis/memory/blocks.py",
        "return self.allocated_bytes - self.freed_bytes",
        "return self.allocated_bytes + self.freed_bytes",
        "memory/test_ledger.py analysis/test_memory.py",
    ),
    Mutation(
        "analysis/memory/ledger.py",
        "if saved.storage is None or saved.storage in seen:",
        "if saved.storage is None:",
        "memory/test_ledger.py analysis/test_memory.py",
    ),
    Mutation(
        "hazards/rules/saved_tensor_overwritten.py",
        "_all_stale(story, end, expected) if reached is None or stale.node.node in reached)",
        "_all_stale(story, end, expected) if reached is None or stale.node.node not in reached)",
        "hazards/test_saved_tensor_overwritten.py",
    ),
    Mutation(
        "hazards/rules/saved_tensor_overwritten.py",
        "return likely[0] if len(likely) == 1 else None",
        "return likely[0] if likely else None",
        "hazards/test_saved_tensor_overwritten.py hazards/test_told_from_the_record.py",
    ),
    Mutation(
        "analysis/writes.py",
        "if output.tensor not in given:",
        "if output.tensor not in ():",
        "hazards/test_leaf_written.py hazards/test_fixes_of_writes.py",
    ),
    Mutation(
        "hazards/overlap/in_one_call.py",
        "read.tensor == after.tensor:",
        "read.tensor != after.tensor:",
        "hazards/test_overlapping_write.py hazards/test_operand_overwritten_first.py",
    ),
    Mutation(
        "hazards/overlap/in_one_call.py",
        "if len(on_it) > 1 and all(",
        "if len(on_it) > 1 and not all(",
        "hazards/test_overlapping_write.py hazards/test_told_by_facts.py",
    ),
    Mutation(
        "hazards/overlap/swapped.py",
        "if written is None or read is None or written == read:",
        "if written is None or read is None:",
        "hazards/test_told_by_facts.py hazards/test_told_by_facts_quiet.py test_gate.py",
    ),
    Mutation(
        "hazards/gradients/sums.py",
        "len(runs.lines_that_clear()) == 1 and all(",
        "len(runs.lines_that_clear()) == 1 or all(",
        "hazards/test_gradient_edited.py hazards/test_told_of_training.py test_gate.py",
    ),
    Mutation(
        "hazards/dead/dropped.py",
        "if loss.silent or (dropped.largest or 0) <= 1:",
        "if loss.silent:",
        "hazards/test_write_lost.py hazards/test_told_from_the_record.py test_gate.py",
    ),
    Mutation(
        "hazards/references/engine.py",
        "return meta is None or meta.is_trainable or story.is_gradient(mutation)",
        "return meta is None or story.is_gradient(mutation)",
        "hazards/test_alias_written.py test_gate.py",
    ),
    Mutation(
        "hazards/twice/compared.py",
        "if kept is not None and kept in told:",
        "if kept is not None and kept not in told:",
        "hazards/test_same_memory_compared.py",
    ),
    Mutation(
        "source/out_of_place.py",
        "if not links or root is None or",
        "if not links or",
        "hazards/test_fixes_of_writes.py hazards/test_fix_sentences.py",
    ),
    Mutation(
        "hazards/fixes/clone.py",
        "if not let_go and story.writes_after(saved, saved.version):",
        "if let_go and story.writes_after(saved, saved.version):",
        "hazards/test_fixes_of_writes.py hazards/test_fix_sentences.py",
    ),
    Mutation(
        "render/text.py",
        'if step.effect is not None and step.kind != "created":',
        "if step.effect is not None:",
        "render/test_text.py",
    ),
    Mutation(
        "render/page/cards.py",
        "opened=not serious and len(notes) <= 3)",
        "opened=serious and len(notes) <= 3)",
        "render/test_html.py",
    ),
    Mutation(
        "render/graph/dot.py",
        "lines.append(made or words.came_by(tensor.origin))",
        "lines.append(made)",
        "render/test_dot.py",
    ),
    Mutation(
        "render/tables/memory_rows.py",
        "if site is None or not site.line:",
        "if site is None or site.line:",
        "render/test_tables.py memory/test_ledger.py",
    ),
    Mutation(
        "render/words.py",
        "if before is not None and before == after else step",
        "if before is not None and before != after else step",
        "render/test_text.py render/test_timeline.py",
    ),
    Mutation("render/machines/sarif.py", "if value != []}", "if value}", "render/test_machines.py"),
    Mutation(
        "render/excerpt.py",
        "if hazard.saved is not None:",
        "if hazard.saved is None:",
        "render/test_html.py render/test_text.py",
    ),
    Mutation(
        "render/verdict.py",
        'if report.trace.level == "writes" and not calls:',
        'if report.trace.level == "writes" or not calls:',
        "render/test_verdict.py",
    ),
)


def main() -> int:
    """Try the mutations; return 0 if all are caught."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", type=int, nargs="*", metavar="NUMBER", help="from 1")
    numbers = parser.parse_args().only or range(1, len(MUTATIONS) + 1)
    outcomes = []
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "checkout")
        shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".*", "build", "dist", "__pycache__"))
        for number in numbers:
            mutation = MUTATIONS[number - 1]
            began = time.perf_counter()
            outcome = tried(mutation, copy)
            outcomes.append(outcome)
            seconds = time.perf_counter() - began
            print(f"{number:2} {outcome:10} {seconds:4.0f} s  {mutation.file}: {mutation.after}", flush=True)
    print(f"{outcomes.count('caught')} of {len(outcomes)} caught")
    return 0 if set(outcomes) == {"caught"} else 1


def tried(mutation: Mutation, copy: Path) -> str:
    """Return ``caught`` if a test fails that passes without the mutation, ``broken`` if it fails then too, ``missed``
    if all pass, ``outdated`` if the line or a test is no longer there."""
    path = copy / "inplace_magic" / mutation.file
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    tests = [f"tests/{name}" for name in mutation.tests.split()]
    if text.count(mutation.before) != 1 or not all((copy / name).exists() for name in tests):
        return "outdated"
    path.write_text(text.replace(mutation.before, mutation.after), encoding="utf-8")
    failed = first_failure(copy, tests)
    path.write_text(text, encoding="utf-8")
    if failed is None:
        return "missed"
    return "caught" if first_failure(copy, [failed]) is None else "broken"


def first_failure(copy: Path, tests: list[str]) -> str | None:
    """Return the first test that fails, or what could not be collected; None if all pass."""
    pytest = [sys.executable, "-W", "ignore", "-m", "pytest", "-q", "-x", "-rfE", "-p", "no:cacheprovider", *tests]
    settings = {**os.environ, "PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
    ran = subprocess.run(pytest, cwd=copy, env=settings, capture_output=True, text=True, check=False)
    named = re.search(r"^(?:FAILED|ERROR) (tests/.+?)(?: - |$)", ran.stdout, re.MULTILINE)
    return None if ran.returncode == 0 else named[1] if named else tests[0]


if __name__ == "__main__":
    sys.exit(main())
