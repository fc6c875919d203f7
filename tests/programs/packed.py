"""Read the labelled programs: one Markdown file a set, with a label and a text for each program.

    python tests/programs/packed.py NAME    print one program; pipe it into ``python -`` to run it

A set looks like this, once for each program:

    ## silent_name_of_the_program

    ```json
    {"case": "silent_name_of_the_program", "source": "https://…", "symptom": "silent_wrong", "mutating_lines": [7], …}
    ```

    ```python
    import torch
    …
    ```

Labels count lines from the first line of the program's own text.
"""

from __future__ import annotations

import json
import re
import sys
from functools import lru_cache
from pathlib import Path
from typing import Any

PROGRAMS = Path(__file__).resolve().parent
ROUNDS = tuple(sorted((PROGRAMS / "rounds").glob("*.md")))
FIRST, FURTHER, HELD_OUT = (PROGRAMS / f"{name}.md" for name in ("first", "further", "held_out"))
SETS = (FIRST, FURTHER, HELD_OUT, *ROUNDS)
"""The 24 first programs, the further ones, those whose fixes are held out, and the rounds in order."""

_PROGRAM = re.compile(r"^## (\w+)\n\n```json\n(.*?)\n```\n\n```python\n(.*?)```\n", re.M | re.S)


@lru_cache
def _read(path: Path) -> dict[str, tuple[str, str]]:
    return {name: (label, text) for name, label, text in _PROGRAM.findall(path.read_text(encoding="utf-8"))}


def cases_in(path: Path) -> list[dict[str, Any]]:
    """Return the labels of a set, in the order of the file."""
    return [json.loads(label) for label, _text in _read(path).values()]


def source_of(path: Path, name: str) -> str:
    """Return the text of one program of a set.

    Raises:
        KeyError: the set has no program of this name.
    """
    return _read(path)[name][1]


def written(programs: dict[str, tuple[dict[str, Any], str]]) -> str:
    """Return the text of a set from the label and text of each program."""
    return "".join(
        f"## {name}\n\n```json\n{json.dumps(label, ensure_ascii=False)}\n```\n\n```python\n{text}```\n\n"
        for name, (label, text) in programs.items()
    )


def main() -> int:
    """Print the program that the command line names."""
    for path in SETS:
        if sys.argv[1] in _read(path):
            print(source_of(path, sys.argv[1]), end="")
            return 0
    print(f"No set has a program {sys.argv[1]!r}.", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
