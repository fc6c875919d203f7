"""``%autoreload 2`` puts new code into old functions and numbers its lines from 1; a report knows the true ones."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cells import run_cell

MODULE = """\
import torch
from torch import nn

# a comment
# another


def squash(x):
    return torch.sigmoid(x)


class Net(nn.Module):
    \"\"\"Squashes.

    As ever.\"\"\"

    def forward(self, x):
        # here
        return torch.sigmoid(x)
"""
FIRST = "    y = torch.sigmoid(x)\n    # longer\n    y *= 2\n    return y\n"


@pytest.fixture
def module(loaded_shell: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A module that the shell imported and that autoreload looks after."""
    folder = tmp_path / "modules"
    folder.mkdir()
    path = folder / "reloaded_module.py"
    path.write_text(MODULE, encoding="utf-8")
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    run_cell(loaded_shell, "%load_ext autoreload\n%autoreload 2")
    run_cell(loaded_shell, "import torch, reloaded_module\nnet = reloaded_module.Net()")
    yield path
    run_cell(loaded_shell, "%autoreload 0")
    run_cell(loaded_shell, "%unload_ext autoreload")
    sys.modules.pop("reloaded_module", None)


def rewrite(path: Path, text: str) -> None:
    """Saves the file as an editor would, some seconds later."""
    before = path.stat().st_mtime
    path.write_text(text, encoding="utf-8")
    os.utime(path, (before + 5, before + 5))


@pytest.mark.parametrize(("call", "name"), [("reloaded_module.squash(x)", "squash"), ("net(x)", "Net.forward")])
def test_a_function_that_autoreload_patched_is_quoted_from_its_true_line(
    loaded_shell: Any, module: Path, call: str, name: str
) -> None:
    deep = FIRST.replace("    ", "        ")
    for factor in ("2.25", "2.5"):  # the first edit reloads the module, later ones patch its functions
        text = MODULE.replace("    return torch.sigmoid(x)\n\n", FIRST.replace("2", factor) + "\n")
        text = text.replace("        return torch.sigmoid(x)\n", deep.replace("2", factor))
        rewrite(module, text)
        failed = run_cell(loaded_shell, f"x = torch.ones(3, requires_grad=True)\n{call}.sum().backward()")
        assert "modified by an inplace operation" in str(failed.error)
    code = run_cell(loaded_shell, f"reloaded_module.{name}.__code__").result.result
    run_cell(loaded_shell, f"%%inplace_watch -o report\nx = torch.ones(3, requires_grad=True)\n{call}.sum().backward()")
    report = loaded_shell.user_ns["report"]
    (hazard,) = report.hazards
    line = next(
        at for at, row in enumerate(text.splitlines(), 1) if row == ("    " * (1 + name.count(".")) + "y *= 2.5")
    )
    assert (hazard.mutation.line, hazard.mutation.text, hazard.mutation.outdated) == (line, "y *= 2.5", False)
    assert (hazard.mutation.function, hazard.saved.text) == (name, "y = torch.sigmoid(x)")
    assert f"@@ reloaded_module.py:{line} @@" in hazard.diff
    assert "a comment" not in report.to_text()
    if code.co_firstlineno <= 2:  # IPython 9 patched it; older ones load the module anew
        assert code.co_firstlineno < line - 3
