"""What a report of two torch calls costs in files of different length: ``python benchmarks/source_size.py``.

The file is parsed, which grows with it; whatever else is done with its text is done for the functions that ran.
"""

from __future__ import annotations

import ast
import tempfile
import time
from pathlib import Path
from typing import Any

import torch

import inplace_magic

CLASS = """\
class C{number}:
    def f(self, x, y=3):
        a = x + y * 2
        b = self.g(a, k=[1, 2, 3])
        return a, b
"""
MAIN = """
def main():
    with inplace_magic.watch() as watched:
        x = torch.ones(3)
        y = x + 1
    return watched
"""


def best(work: Any, times: int = 5) -> float:
    """Seconds of processor time, of the fastest run."""
    taken = []
    for _ in range(times):
        begun = time.process_time()
        work()
        taken.append(time.process_time() - begun)
    return min(taken)


def main() -> None:
    """Prints a row for each length."""
    print(f"{'lines':>7}  {'block with its report':>21}  {'parsing alone':>13}")
    for classes in (0, 700, 2800):
        text = "".join(CLASS.format(number=number) for number in range(classes)) + MAIN
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "program.py")
            path.write_text(text, encoding="utf-8")
            names: dict[str, Any] = {"torch": torch, "inplace_magic": inplace_magic}
            exec(compile(text, str(path), "exec"), names)
            names["main"]()
            watched, parsed = best(names["main"]), best(lambda text=text: ast.parse(text))
        print(f"{len(text.splitlines()):7,}  {watched:19.3f} s  {parsed:11.3f} s")


if __name__ == "__main__":
    main()
