"""How often each code is right on code that nobody tuned to, by severity: the judged corpus, and rounds at first sight.

    python tests/corpus/precision.py REVISION:ROUND …

A round's first sight is the golden file of the commit that set it beside the others. There an alarm counts as true in a
failing program that is told as its label says, as false in a healthy one, and as aside where the failing program is
told of something else: nobody has judged that.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from programs import score  # noqa: E402  # found by the line above

GOLDEN = "tests/traces/golden.jsonl"
WORDS = ("true", "harmless", "debatable", "aside", "false")
RIGHT = ("true", "harmless", "debatable")
"""The sentence is right; what the author wants is another question."""


def in_the_corpus() -> Iterator[tuple[str, str, str]]:
    """Yield (code, severity, verdict) of each judged finding."""
    for line in (HERE / "findings.jsonl").read_text().splitlines():
        fact = json.loads(line)
        yield fact["code"], fact["severity"], fact["verdict"]


def at_first_sight(revision: str, number: str) -> Iterator[tuple[str, str, str]]:
    """Yield the same of each alarm of a round, once for a program, by the golden file of a revision."""
    shown = subprocess.run(
        ["git", "show", f"{revision}:{GOLDEN}"], capture_output=True, text=True, check=True, cwd=HERE
    )
    told = {name: (right, found) for name, right, found in map(json.loads, shown.stdout.splitlines())}
    for case in score.cases_in(HERE.parent / "programs" / "rounds" / f"{number}.md"):
        right, found = told.get(case["case"], (False, []))
        verdict = "false" if case["symptom"] == "harmless" else "true" if right else "aside"
        for code, severity in sorted({(each[0], each[1]) for each in found if each[1] != "info"}):
            yield code, severity, verdict


def main() -> int:
    """Print the table."""
    told = [*in_the_corpus()]
    for each in sys.argv[1:]:
        told += at_first_sight(*each.split(":"))
    print(f"| code | severity | {' | '.join(WORDS)} | right |\n|---|---|{'--:|' * (len(WORDS) + 1)}")
    for (code, severity), _ in sorted(Counter((code, severity) for code, severity, _ in told).items()):
        counts = Counter(verdict for each in told for verdict in each[2:] if each[:2] == (code, severity))
        judged = sum(counts[word] for word in (*RIGHT, "false"))
        right = f"{100 * sum(counts[word] for word in RIGHT) / judged:.0f} %" if judged else "–"
        print(f"| `{code}` | {severity} | {' | '.join(str(counts[word]) for word in WORDS)} | {right} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
