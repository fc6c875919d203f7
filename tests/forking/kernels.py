"""Kernels that are forked, for tests whose promise is not about how a kernel starts."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from forking.starting import python
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from kernel_sockets import kernel_sockets
from traitlets import default
from traitlets.config import Config


@cache
def jupyter_path() -> str:
    """A folder, for ``JUPYTER_PATH``, whose kernel ``python3`` is this environment's, run by the Python that forks."""
    folder = Path(python()).parent / "jupyter"
    kernel = folder / "kernels" / "python3"
    kernel.mkdir(parents=True)
    start = [python(), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    spec = {"argv": start, "display_name": "Python 3 (ipykernel)", "language": "python"}
    (kernel / "kernel.json").write_text(json.dumps(spec), encoding="utf-8")
    return str(folder)


def specs() -> KernelSpecManager:
    """What finds that kernel, for a manager of kernels."""
    return KernelSpecManager(kernel_dirs=[f"{jupyter_path()}/kernels"])


class ForkedKernel(AsyncKernelManager):
    """The manager of such a kernel."""

    @default("kernel_spec_manager")
    def _specs(self) -> KernelSpecManager:
        return specs()


def forked_kernel() -> Config:
    """The settings of a notebook's client with one kernel."""
    settings = kernel_sockets()
    settings.NotebookClient.kernel_manager_class = ForkedKernel
    return settings
