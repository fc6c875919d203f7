"""What every test promises besides its own: it leaves no hook behind, in torch or in IPython."""

from __future__ import annotations

import atexit
import gc
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any

import drawing_lots
import proven
import pytest
from IPython.core.interactiveshell import InteractiveShell
from scripts import script
from traitlets.config import Config

import inplace_magic

# There are as many workers as cores, and the processes and kernels that tests start read this too: on small tensors
# a second thread only waits for the first, on a busy machine ten times as long.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# Where it finds this package, jsonschema builds 38 grammars when nbformat imports it: seconds in each worker, for the
# formats of strings that no notebook has. None stands for what cannot be imported.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]

collect_ignore = ["programs"]
"""Labelled programs are no tests, whatever their names end in."""

RUN_ON = ("torch", "ipython", "ipykernel", "ipywidgets", "anywidget", "traitlets", "pandas", "numpy")

SLOW = (
    "tests/test_docs_site.py",  # with a browser of its own, which cannot be had beside theirs
    "tests/browser",  # which are waited for, while the tests of Paddle run beside them
    "tests/lessons/test_run_oldest.py",  # kernels, with the oldest tools, in one long test
    "tests/suites",  # processes of pytest
    "tests/corpus",  # forks, each of which trains
    "tests/no_harm/test_operators.py",
    "tests/test_rounds.py::test_a_long_program",
    "tests/test_rounds.py::test_a_program",
    "tests/test_rounds.py::test_the_diffs",
    "tests/no_harm",
    "tests/lessons/test_run",  # kernels
    "tests/test_notebooks.py",
    "tests/magics/test_kernel.py",
    "tests/test_demo.py",
    "tests/test_wheel.py",
    "tests/test_leaving_out.py",
    "tests/ranks",  # processes of torchrun
    "tests/situations",  # processes of Python, kernels
    "tests/test_command_line.py",  # processes of Python
    "tests/testing/test_plugin.py",
    "tests/test_startup.py",  # kernels, processes of Python, as in the next three
    "tests/postmortem/test_delivery_scripts.py",
    "tests/postmortem/test_delivery_marimo.py",
    "tests/postmortem/test_delivery_notebooks.py::test_in_a_kernel",
    "tests/magics/test_across_cells.py::test_in_a_kernel",
    "tests/compare/test_magic.py::test_in_a_kernel",
    "tests/capture/test_beside.py::test_without_other_threads",  # a process of Python, as in the next five
    "tests/capture/test_forks.py",
    "tests/capture/test_own_module.py::test_a_game",
    "tests/lessons/test_texts.py::test_where_there_is_no_checkout",
    "tests/magics/test_why.py::test_a_loader",
    "tests/test_notes.py::test_a_traceback_and_pytest",
    "tests/render/test_wasi.py",
    "tests/render/test_live_page.py",  # a browser
    "tests/lessons/test_exercises.py",
    "tests/test_scaling.py",
    "tests/imitation/test_values_unread.py",
    "tests/test_healthy_models.py",
    "tests/asked/test_resnet_step.py",
    "tests/memory/test_oracle.py",
    "tests/memory/test_chart.py::test_a_long_watch",
    "tests/compare/test_real_programs.py",
    "tests/render/test_budgets.py",
    "tests/proving/test_held_out.py",
    "tests/hazards/test_fixes.py",  # every labelled program, run
    "tests/test_further_programs.py::test_a_further_program",
    "tests/test_programs_in_files.py",
    "tests/test_programs.py::test_a_program",
)
"""Beginnings of the names of tests that ``make check`` leaves to ``make test-all``, which begins with them in this
order: the longest single tests early, so that no worker is left alone with one at the end."""
OF_LABELLED_PROGRAMS = (
    "tests/hazards/test_fixes.py::test_the_diff_cures_the_program",
    "tests/test_further_programs.py::test_a_",
    "tests/test_programs_in_files.py::",
    "tests/test_programs.py::test_a_program",
    "tests/test_programs.py::test_the_report_of_a_stored_trace",
)
"""Tests that ask several things of one program. Those of a program come one after the other, whichever file they stand
in: then most of them are on one worker, which runs for all of them what each of them wants to have run."""


PYTHONS_ROUNDS = pytest.StashKey[tuple[int, int, int]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--unproven", action="store_true", help="leave out nine in ten tests of each proof in proven.json")
    parser.addoption("--proof", action="append", metavar="BEGINNING", help="run the tests of this proof alone")


def pytest_configure(config: pytest.Config) -> None:
    """Has the garbage collector look less often than it does by itself: reports, pages and syntax trees are made by the
    thousand here, and to walk through them every 700 objects took an eighth of all time. Compiles the catalogues first,
    once for all workers."""
    if not hasattr(config, "workerinput"):
        with suppress(ImportError):  # beside a GPU there may be no more than pytest and torch
            script("docs/make_messages.py").compile_all()
    config.stash[PYTHONS_ROUNDS] = gc.get_threshold()
    gc.set_threshold(50_000, 10, 100)


def pytest_report_header() -> str:
    """The versions that a run of the tests says something about."""
    return ", ".join(f"{name} {version(name)}" for name in RUN_ON)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Marks the slow tests, and those of them that ``make test`` leaves out, and puts them first; tests of one file, or
    of one labelled program, stay together."""
    asked, unproven = config.getoption("proof"), config.getoption("unproven")
    left_out = {
        item.nodeid
        for item in items
        if (asked and proven.proof_of(item.nodeid) not in asked) or (unproven and is_left_out(item.nodeid))
    }
    if left_out:
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid in left_out])
        items[:] = [item for item in items if item.nodeid not in left_out]
    places: list[tuple[int, str]] = []
    for item in items:
        place = slowness(item)
        if place < len(SLOW):
            item.add_marker("slow")
            if not drawing_lots.is_drawn(item.nodeid, drawing_lots.number_of_commits()):
                item.add_marker("nightly")
        of_program = item.nodeid.startswith(OF_LABELLED_PROGRAMS)
        places.append((len(SLOW), item.name.partition("[")[2]) if of_program else (place, ""))
    order = sorted(range(len(items)), key=places.__getitem__)
    items[:] = [items[index] for index in order]


def is_left_out(name: str) -> bool:
    """True if the test belongs to a proof that was made already, and this commit did not draw it."""
    proof = proven.proof_of(name)
    drawn = drawing_lots.is_drawn(name, drawing_lots.number_of_commits())
    return proof is not None and not drawn and proven.is_proven(proof)


def slowness(item: pytest.Item) -> int:
    """The place of a test's file in ``SLOW``, or behind its end."""
    name = item.nodeid
    if not name.startswith(SLOW):
        return len(SLOW)
    return next(place for place, beginning in enumerate(SLOW) if name.startswith(beginning))


def pytest_collection_finish() -> None:
    """No bytecode is written from here on: a module that a test writes twice within a second would be read from it."""
    sys.dont_write_bytecode = True


@pytest.fixture(autouse=True, scope="session")
def _cheap_seeds() -> Iterator[None]:
    """Seeds nothing for accelerators that are not there. For each of them ``torch.manual_seed`` puts a call by with the
    whole stack as text, and below pytest that takes longer than what is seeded."""
    with pytest.MonkeyPatch.context() as patch:
        torch: Any = sys.modules.get("torch")
        for device in () if torch is None else (torch.cuda, torch.xpu, torch.mtia):
            if not device.is_available() and hasattr(device, "manual_seed_all"):  # not in torch 2.4's `mtia`
                patch.setattr(device, "manual_seed_all", lambda seed: None)
        yield


@pytest.fixture(scope="session")
def pythons_rounds(pytestconfig: pytest.Config) -> tuple[int, int, int]:
    """Python's own thresholds of the garbage collector: in ``tests/no_harm`` and in processes that tests start."""
    return pytestconfig.stash[PYTHONS_ROUNDS]


_imported = 0
"""Modules when objects were last taken out of the garbage collector's rounds."""
_since = 0
"""Tests since then."""


@pytest.fixture(autouse=True)
def _what_stays_is_not_walked_again() -> None:
    """Takes what is alive after imports, and now and then what tests left in caches, out of the garbage collector's
    rounds: a million objects of torch, its compiler and pandas, and the syntax trees of files that tracebacks quoted,
    live to the end anyway, and to walk through them took longer than most tests."""
    global _imported, _since
    _since += 1
    if len(sys.modules) > _imported + 20 or _since == 50:
        gc.collect()
        gc.freeze()
        _imported, _since = len(sys.modules), 0


@pytest.fixture(autouse=True)
def _no_hooks_left() -> Iterator[None]:
    assert hooks_left() == []
    yield
    assert hooks_left() == []


@pytest.fixture(scope="session")
def _ipythons_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One for all shells: seven folders for each, which nobody looks into, took as long as the rest of it."""
    return tmp_path_factory.mktemp("ipython")


@pytest.fixture
def shell(_ipythons_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[InteractiveShell]:
    """A real, new shell with an empty namespace; the extension is not loaded. Its history is that of the session: a
    database of what was typed, and a thread that writes it, took a fifth of the time to make a shell."""
    monkeypatch.setenv("IPYTHONDIR", str(_ipythons_folder))
    main = sys.modules["__main__"]
    config = Config()
    config.HistoryManager.enabled = False
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance(config=config)
    try:
        yield shell
    finally:
        inplace_magic.unload_ipython_extension(shell)
        left = shell_hooks(shell)
        atexit.unregister(shell.atexit_operations)
        shell.displayhook.do_full_cache = False  # to empty the cache of outputs is to collect garbage, twice a test
        shell.atexit_operations()
        InteractiveShell.clear_instance()
        sys.modules["__main__"] = main
        assert left == []


@pytest.fixture
def loaded_shell(shell: InteractiveShell) -> InteractiveShell:
    """The same shell after ``%load_ext inplace_magic``."""
    shell.run_line_magic("load_ext", "inplace_magic")
    return shell


def hooks_left() -> list[str]:
    """Every mode of torch and every hook of this package that is active now, in words."""
    found = torch_modes() + doors_left() + replaced_functions() + optimizer_hooks()
    found += [f"{hook} is ours" for hook in (sys.excepthook, threading.excepthook) if _ours(hook)]
    if InteractiveShell.initialized():
        found += shell_hooks(InteractiveShell.instance())
    return found


def torch_modes() -> list[str]:
    """The function and dispatch modes on this thread; a test that never imported torch cannot have any."""
    torch: Any = sys.modules.get("torch")
    if torch is None:
        return []
    from torch.utils._python_dispatch import _get_current_dispatch_mode_stack

    modes = [*torch.overrides._get_current_function_mode_stack(), *_get_current_dispatch_mode_stack()]
    assert torch._C._len_torch_function_stack() + torch._C._len_torch_dispatch_stack() == len(modes)
    return [f"torch mode {type(mode).__name__}" for mode in modes]


def doors_left() -> list[str]:
    """What of torch is replaced by something of this package now."""
    doors: Any = sys.modules.get("inplace_magic.capture.stepping_aside.doors")
    if doors is None:
        return []
    left = [f"{place.door.module}.{place.door.name} is ours" for place in doors._PLACES if place.is_ours]
    return [*left, *(["a finder in sys.meta_path is ours"] if doors._LATE in sys.meta_path else [])]


def replaced_functions() -> list[str]:
    """Functions of torch's that are replaced by one of this package now."""
    swapping = sys.modules.get("inplace_magic.capture.torch.swapping")
    if swapping is None:
        return []
    used = getattr(sys.modules["torch"].utils.swap_tensors, "__globals__", {}).get("weakref")
    return ["torch.utils.swap_tensors"] if isinstance(used, swapping._WithoutOurs) else []


def optimizer_hooks() -> list[str]:
    """What every optimizer would ask before a step, and is ours."""
    optimizer: Any = sys.modules.get("torch.optim.optimizer")
    hooks = {} if optimizer is None else optimizer._global_optimizer_pre_hooks
    return [f"optimizer hook {hook!r}" for hook in hooks.values() if _ours(hook)]


def shell_hooks(shell: Any) -> list[str]:
    """What of this package hangs on the shell."""
    found = [f"transformer {item!r}" for item in shell.input_transformers_cleanup if _ours(item)]
    found += ["showtraceback"] if "showtraceback" in vars(shell) else []
    for event, callbacks in shell.events.callbacks.items():
        found += [f"{event} callback {item!r}" for item in callbacks if _ours(item)]
    for kind, magics in shell.magics_manager.magics.items():
        found += [f"{kind} magic {name}" for name, item in magics.items() if _ours(item)]
    return found


def _ours(item: Any) -> bool:
    if type(item).__module__.startswith("IPython."):  # to ask a lazy magic for anything would load it
        return False
    owner = getattr(item, "__self__", item)
    module = getattr(owner, "__module__", None) or type(owner).__module__
    return str(module).startswith("inplace_magic")
