"""``--startup`` has new kernels and shells load the extension; ``--no-startup`` leaves the profile as it was."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from jupyter_client.manager import KernelManager
from scripts import ROOT

from inplace_magic.cli.startup import FIRST, LAST

THEIRS = {
    "none": None,
    "some lines": b"c = get_config()\nc.InteractiveShell.colors = 'NoColor'\n",
    "no line end": b"c.InteractiveShellApp.extensions = ['storemagic']",
    "of Windows": b"c = get_config()\r\n# \xe9\r\n",
    "empty": b"",
}


def asked(folder: Path, *words: str) -> str:
    """What the command line prints."""
    done = subprocess.run(
        [sys.executable, "-m", "inplace_magic", *words],
        env=surroundings(folder),
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert done.stderr == ""
    return done.stdout


def surroundings(folder: Path) -> dict[str, str]:
    """Of a process whose IPython has its profiles in a folder."""
    return {**os.environ, "IPYTHONDIR": str(folder), "PYTHONPATH": str(ROOT)}


@pytest.mark.parametrize("theirs", THEIRS.values(), ids=THEIRS.keys())
def test_the_lines_come_once_and_go_without_a_trace(tmp_path: Path, theirs: bytes | None) -> None:
    file = tmp_path / "profile_default" / "ipython_config.py"
    if theirs is not None:
        file.parent.mkdir()
        file.write_bytes(theirs)
    said = asked(tmp_path, "--startup")
    assert str(file) in said
    assert "c.InteractiveShellApp.extensions.append" in said
    once = file.read_bytes()
    assert once.startswith(theirs or b"")
    assert (once.count(FIRST.encode()), once.count(LAST.encode())) == (1, 1)
    assert "nothing was changed" in asked(tmp_path, "--startup")
    assert file.read_bytes() == once
    assert str(file) in asked(tmp_path, "--no-startup")
    assert (file.read_bytes() if file.exists() else None) == theirs
    assert "nothing was changed" in asked(tmp_path, "--no-startup")


def test_a_kernel_and_a_shell_that_start_then_have_the_extension_and_print_nothing(tmp_path: Path) -> None:
    asked(tmp_path, "--startup")
    manager = KernelManager()
    manager.start_kernel(env=surroundings(tmp_path))
    client = manager.blocking_client()
    client.start_channels()
    printed: list[str] = []
    try:
        client.wait_for_ready(timeout=120)
        client.execute_interactive(
            "import sys\nprint('inplace_magic.magics' in sys.modules, 'torch' in sys.modules)",
            output_hook=lambda message: printed.append(message["content"].get("text", "")),
            timeout=60,
        )
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    assert "".join(printed) == "True False\n"
    done = subprocess.run(
        [sys.executable, "-m", "IPython", "-c", "get_ipython().run_line_magic('inplace_report', '--help')"],
        env=surroundings(tmp_path),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert "usage: %inplace_report" in done.stdout
