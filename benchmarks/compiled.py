"""What a compiled build of the hottest modules would save: the same Python source, translated to C by Cython.

    pip install cython setuptools
    python benchmarks/compiled.py [--only tiny dqn] [--rounds 3] [--repeats 14] [--block]

The package is copied and those of its modules that run at every call are compiled there; classes and annotations stay
what they are. Then the two are timed in turn, each in a process of its own: given are the ratios of a watch at level
``calls`` to the plain run, least and median of the processor times of all repeats, plain and watched in turn.

With ``--block`` it is the block of ``kept.py`` that is compiled, and ``floor.py`` that is run: what a helper in C could
reach that has no function of its own and asks torch by the names that Python has for it.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
HOT = (
    *("callsite", "recorder", "results", "identity", "nodes", "witness", "observer", "running"),
    *("torch.describe", "torch.describe_nodes", "torch.arguments", "torch.layouts"),
)
BUILD = """\
from Cython.Build import cythonize
from setuptools import Extension, setup

modules = [Extension(name, [name.replace(".", "/") + ".py"], extra_compile_args=["-O2", "-w"]) for name in {names!r}]
options = dict(language_level=3, annotation_typing=False)
setup(name="hot", packages=[], script_args=["build_ext", "--inplace"],
      ext_modules=cythonize(modules, compiler_directives=options))
"""


def build(folder: Path) -> None:
    """Puts a compiled copy of the package into a folder."""
    shutil.copytree(HERE.parent / "inplace_magic", folder / "inplace_magic")
    _compile([f"inplace_magic.capture.{name}" for name in HOT], folder)


def build_block(folder: Path) -> None:
    """Puts the benchmarks into a folder, and a compiled block among them."""
    for file in HERE.glob("*.py"):
        shutil.copy(file, folder)
    kept = folder / "kept.py"
    kept.write_text(kept.read_text().replace("sys._getframe(1)", "sys._getframe()"))  # it has no frame of its own
    _compile(["kept"], folder)


def _compile(names: list[str], folder: Path) -> None:
    (folder / "build.py").write_text(BUILD.format(names=names))
    subprocess.run([sys.executable, "build.py"], cwd=folder, check=True, capture_output=True)


def block(folder: str, only: list[str], rounds: int, repeats: int) -> None:
    """Prints the rows of ``floor.py`` with the block in Python and compiled, in turn."""
    paths = [str(HERE.parent), str(HERE.parent / "tests"), *sys.path]
    for _ in range(rounds):
        for kind, root in (("Python", str(HERE)), ("compiled", folder)):
            command = [sys.executable, f"{root}/floor.py", "--levels", "calls", "--repeats", str(repeats)]
            command += ["--only", *only]
            environment = {**os.environ, "PYTHONPATH": os.pathsep.join([root, *paths])}
            done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
            print(kind, done.stdout, sep="\n", flush=True)


def measure(root: str, name: str, repeats: int) -> None:
    """Prints the ratios of one workload, with the package that lies in a folder."""
    sys.path[:0] = [root, str(HERE), str(HERE.parent / "tests")]
    import torch
    from workloads import WORKLOADS

    import inplace_magic

    torch.set_num_threads(1)
    workload = WORKLOADS[name]()
    taken: dict[bool, list[float]] = {False: [], True: []}
    for turn in range(repeats + 2):
        for watched, had in taken.items():
            watch = inplace_magic.watch() if watched else None
            if watch is not None:
                watch.start()
            began = time.process_time()
            workload.step()
            seconds = time.process_time() - began
            if watch is not None:
                watch.leave()
            if turn > 1:
                had.append(seconds)
    least, median = min(taken[True]) / min(taken[False]), (statistics.median(had) for had in taken.values())
    plain, watched_median = median
    print(f"{least:6.2f} {watched_median / plain:6.2f}")


def main() -> None:
    """Builds, and prints a line for each run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", default=["tiny", "dqn", "lstm", "func"])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--repeats", type=int, default=14)
    parser.add_argument("--block", action="store_true")
    parser.add_argument("--measure", metavar="FOLDER", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        measure(options.measure, options.only[0], options.repeats)
        return
    with tempfile.TemporaryDirectory() as made:
        if options.block:
            build_block(Path(made))
            block(made, options.only, options.rounds, options.repeats)
            return
        build(Path(made))
        print(f"{'':10} {'':9}  least median")
        for name in options.only:
            for _ in range(options.rounds):
                for kind, root in (("Python", str(HERE.parent)), ("compiled", made)):
                    command = [sys.executable, __file__, "--measure", root, "--only", name]
                    command += ["--repeats", str(options.repeats)]
                    done = subprocess.run(command, capture_output=True, text=True, check=True)
                    print(f"{name:10} {kind:9} {done.stdout.strip()}", flush=True)


if __name__ == "__main__":
    main()
