"""What ``%load_ext inplace_magic`` costs: processor time and modules on top of a plain IPython shell.

    python benchmarks/loading.py [RUNS]

Each run is a process of its own; the middle one is printed.
"""

from __future__ import annotations

import statistics
import subprocess
import sys

LOAD = """
import sys, time
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
before, began = set(sys.modules), time.process_time()
shell.run_line_magic("load_ext", "inplace_magic")
print(time.process_time() - began, len(set(sys.modules) - before))
"""


def main(runs: int) -> None:
    """Prints both figures."""
    outputs = [
        subprocess.run([sys.executable, "-c", LOAD], capture_output=True, text=True, check=True).stdout.split()
        for _ in range(runs)
    ]
    seconds = statistics.median(float(each[0]) for each in outputs)
    print(f"%load_ext inplace_magic: {seconds:.3f} s of processor time, {outputs[0][1]} modules")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
