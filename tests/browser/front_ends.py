"""What the browser tests need of Jupyter and of Chromium: a server, a browser, and notebooks opened in them."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from playwright.sync_api import Browser, Error, Page, Playwright

CHROMIUMS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
COUNTS = "n => jupyterapp.shell.currentWidget.content.model.cells.get(n).executionCount ?? 0"
EXCHANGE = """async path => {
  const before = jupyterapp.shell.currentWidget;
  before.context.model.dirty = false;
  await before.context.sessionContext.shutdown();
  const gone = new Promise(resolve => before.disposed.connect(resolve));
  before.close();
  await gone;
  await jupyterapp.serviceManager.kernelspecs.refreshSpecs();
  await jupyterapp.commands.execute("docmanager:open", {path, factory: "Notebook"});
}"""
PATIENCE = 180_000
"""Milliseconds that a fact may take to come true; the machine may be busy with other tests."""
INSTALL = "no Chromium was found: `apt-get install chromium`, or `playwright install chromium`"
SETTINGS = {"@jupyterlab/apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False}}


def launch(playwright: Playwright) -> Browser | None:
    """Debian's Chromium where it is on the PATH, else Playwright's own; None where there is neither."""
    for name in CHROMIUMS:
        found = shutil.which(name)
        if found:
            return playwright.chromium.launch(executable_path=found, args=[*FLAGS])
    try:
        return playwright.chromium.launch(args=[*FLAGS])
    except Error:
        return None


@dataclass(frozen=True)
class Server:
    """A running Jupyter server, which serves JupyterLab and Notebook 7 alike."""

    url: str
    token: str
    root: Path

    def write(self, name: str, notebook: Any) -> None:
        """Puts a notebook on the server; a file that the server did not write itself is not trusted."""
        nbformat.write(notebook, self.root / name)

    def read(self, name: str) -> Any:
        """The notebook as it is saved now."""
        return nbformat.read(self.root / name, as_version=4)

    def add_kernel(self, name: str, python: Path) -> None:
        """A further kernel, of another Python environment."""
        folder = self.root.parent / "data" / "kernels" / name
        folder.mkdir(parents=True)
        start = [str(python), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        (folder / "kernel.json").write_text(json.dumps({"argv": start, "display_name": name, "language": "python"}))

    def sign(self, name: str) -> None:
        """Trusts the notebook, as `jupyter trust` does."""
        self._request(f"/api/contents/{name}/trust", "POST")

    def kernels(self) -> list[Any]:
        """The kernels that run."""
        return list(json.loads(self._request("/api/kernels")))

    def shutdown_kernels(self) -> None:
        """Ends all kernels and sessions."""
        for session in json.loads(self._request("/api/sessions")):
            self._request(f"/api/sessions/{session['id']}", "DELETE")

    def lab(self, name: str, *, files: bool = False) -> str:
        """Address of the notebook in JupyterLab; with `files`, in the window with the file browser."""
        return f"{self.url}/{'lab' if files else 'doc'}/tree/{name}?reset&token={self.token}"

    def notebook(self, name: str) -> str:
        """Address of the notebook in Notebook 7."""
        return f"{self.url}/notebooks/{name}?token={self.token}"

    def _request(self, path: str, method: str = "GET") -> bytes:
        request = urllib.request.Request(
            self.url + path, method=method, headers={"Authorization": f"token {self.token}"}
        )
        with urllib.request.urlopen(request, timeout=60) as response:
            return bytes(response.read())


@contextmanager
def serve(root: Path, *, kernels: str = "") -> Iterator[Server]:
    """A Jupyter server with settings and signatures of its own, on a free port, until the end of the block.

    Args:
        root: an empty folder for all of it.
        kernels: where those are looked for first, see ``forking.kernels``.
    """
    settings = root / "settings"
    for name, values in SETTINGS.items():
        file = settings / f"{name}.jupyterlab-settings"
        file.parent.mkdir(parents=True)
        file.write_text(json.dumps(values))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    token, notebooks = secrets.token_hex(8), root / "notebooks"
    runtime = Path(tempfile.mkdtemp())  # the path of a socket has about a hundred characters at most
    notebooks.mkdir()
    folders = {
        "JUPYTER_CONFIG_DIR": root / "config",
        "JUPYTER_DATA_DIR": root / "data",
        "JUPYTER_RUNTIME_DIR": runtime,
        "JUPYTERLAB_SETTINGS_DIR": settings,
        "JUPYTERLAB_WORKSPACES_DIR": root / "workspaces",
        "IPYTHONDIR": root / "ipython",
        "JUPYTER_PATH": kernels,
    }
    command = [
        *(sys.executable, "-m", "jupyter", "lab", "--no-browser", "--allow-root", f"--port={port}"),
        *(f"--ServerApp.root_dir={notebooks}", f"--IdentityProvider.token={token}", "--ServerApp.port_retries=0"),
        "--KernelManager.transport=ipc",  # of free TCP ports, found first and bound later, one is sometimes taken
        *("--LabApp.expose_app_in_browser=True", "--JupyterNotebookApp.expose_app_in_browser=True"),
    ]
    with open(root / "server.log", "w") as log:
        process = subprocess.Popen(
            command,
            stdout=log,
            stderr=subprocess.STDOUT,
            env={**os.environ, **{key: str(folder) for key, folder in folders.items()}},
        )
    server = Server(f"http://127.0.0.1:{port}", token, notebooks)
    try:
        _wait_for(server, process, root / "server.log")
        yield server
        server.shutdown_kernels()
    finally:
        process.terminate()
        process.wait(30)
        shutil.rmtree(runtime, ignore_errors=True)


def _wait_for(server: Server, process: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(720):
        if process.poll() is not None:
            break
        try:
            server._request("/api/status")
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.25)
        else:
            return
    raise RuntimeError(f"The Jupyter server did not start:\n{log.read_text()[-3000:]}")


def notebook_of(cells: Sequence[str], *, kernel: str = "python3") -> Any:
    """A notebook of these code cells."""
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    made.metadata["kernelspec"] = {"name": kernel, "display_name": kernel, "language": "python"}
    return made


def open_notebook(page: Page, address: str) -> None:
    """Opens a notebook in JupyterLab or Notebook 7, until its cells are there.

    JupyterLab goes on to an address of its own where another page has its workspace still; what only evaluates a script
    would fail then, and what waits for one begins again.
    """
    page.goto(address)
    page.wait_for_function("window.jupyterapp && (jupyterapp.restored ?? jupyterapp.started).then(() => true)")
    page.locator(".jp-Notebook .jp-Cell").first.wait_for()


def exchange_notebook(page: Page, name: str) -> None:
    """Opens another notebook in a window of JupyterLab's, until its cells are there. The one before is closed without
    being saved, with its kernel, and nothing of it is left in the page."""
    page.evaluate(EXCHANGE, name)
    page.locator(".jp-Notebook .jp-Cell").first.wait_for()


def command(page: Page, name: str, **arguments: Any) -> None:
    """Runs a command of the application, as its menu would, and waits for its end."""
    page.evaluate("([name, given]) => jupyterapp.commands.execute(name, given)", [name, arguments])


def run_all(page: Page) -> None:
    """Runs all cells; ends when all have run."""
    page.wait_for_function(
        "jupyterapp.shell.currentWidget?.context?.sessionContext?.session?.kernel?.status === 'idle'"
    )
    command(page, "notebook:run-all-cells")


def run_cell(page: Page, position: int, source: str) -> str:
    """Runs other code in the cell at this position; gives the text that it printed.

    Raises:
        AssertionError: it failed.
    """
    before = page.evaluate(COUNTS, position)
    page.evaluate(
        """async ([position, source]) => {
          const notebook = jupyterapp.shell.currentWidget.content;
          notebook.activeCellIndex = position;
          notebook.widgets[position].model.sharedModel.setSource(source);
          await jupyterapp.commands.execute("notebook:run-cell");
        }""",
        [position, source],
    )
    page.wait_for_function(f"([position, before]) => ({COUNTS})(position) > before", arg=[position, before])
    outputs = page.evaluate("n => jupyterapp.shell.currentWidget.content.model.cells.get(n).toJSON().outputs", position)
    assert not [output for output in outputs if output["output_type"] == "error"], outputs
    return "".join("".join(output["text"]) for output in outputs if output.get("name") == "stdout").strip()


def use_theme(page: Page, name: str) -> None:
    """Switches JupyterLab to the theme, until its colours are there."""
    command(page, "apputils:change-theme", theme=name)
    page.wait_for_function("name => document.body.dataset.jpThemeName === name", arg=name)
