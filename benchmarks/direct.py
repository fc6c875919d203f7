"""What a watch could cost if it asked torch's C++ objects for its facts, and not by the names that Python has for them.

    pip install setuptools
    python benchmarks/direct.py [--only tiny dqn lstm func] [--repeats 14]

Wants a C++ compiler, and takes a minute and a half to build `direct.cpp`, which keeps what *facts kept* of ``floor.py``
keeps: first both run a step of each workload, and must have kept as many calls, tensors, storages, nodes, places and
layouts. Then they are timed beside each other, as ``floor.py`` does it. What ``told.py`` adds, names and holders above
all, is in neither: *all kept* less *facts kept* says what it takes in Python.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from contextlib import nullcontext
from pathlib import Path
from types import ModuleType
from typing import Any

import floor
from kept import FactsKept
from torch.overrides import TorchFunctionMode

SOURCE = Path(__file__).resolve().with_name("direct.cpp")
BUILD = """\
from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CppExtension

module = CppExtension("direct_facts", [{source!r}], extra_compile_args=["-O2", "-w"])
without_ninja = BuildExtension.with_options(use_ninja=False)
setup(name="direct", packages=[], script_args=["build_ext", "--inplace"],
      ext_modules=[module], cmdclass={{"build_ext": without_ninja}})
"""


def build(folder: str) -> ModuleType:
    """The module, built in a folder."""
    Path(folder, "build.py").write_text(BUILD.format(source=str(SOURCE)))
    done = subprocess.run([sys.executable, "build.py"], cwd=folder, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{SOURCE.name} was not built; it is for PyTorch 2.13, and wants a C++ compiler:\n{done.stderr}")
    sys.path.insert(0, folder)
    import direct_facts

    return direct_facts  # type: ignore[no-any-return]


def check(direct: type[Any], kept: Any, names: list[str]) -> None:
    """Ends the program where the two did not keep as much."""
    for name in names:
        workload = floor.WORKLOADS[name]()
        workload.step()
        with FactsKept() as python:
            workload.step()
        counts = (python.rows, python.tensors, python.memory, python.nodes, python.places, python.layouts)
        expected = tuple(python.made if had is python.tensors else len(had) for had in counts)
        with direct():
            workload.step()
        if kept() != expected or python.faults:
            sys.exit(f"{name}: {kept()} were kept directly, {expected} in Python; {python.faults[:1]}")


def main() -> None:
    """Builds, compares, and prints two rows for each workload."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", choices=list(floor.WORKLOADS), default=["tiny", "dqn", "lstm", "func"])
    parser.add_argument("--repeats", type=int, default=14)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        module = build(folder)

        class Direct(TorchFunctionMode):
            __torch_function__ = module.torch_function

            def __enter__(self) -> Direct:
                module.begin()
                return super().__enter__()  # type: ignore[no-any-return]

        check(Direct, module.kept, options.only)
        calls = dict(floor.VARIANTS["calls"])
        variants = {"plain": nullcontext, "empty mode": calls.pop("empty mode"), "direct": Direct, **calls}
        floor.measure(variants, options.only, options.repeats)


if __name__ == "__main__":
    main()
