"""Where a kernel that these scripts start is spoken to: sockets in files, and not ports.

A free TCP port is found first and bound later; of several kernels that start at the same time one sometimes finds its
port taken, and dies.
"""

from __future__ import annotations

import socket
import tempfile
import uuid

from traitlets.config import Config

FOLDER = tempfile.TemporaryDirectory(prefix="kernels")
"""A short path, for the name of a socket has about a hundred characters at most. It goes when the process ends."""


def kernel_sockets() -> Config:
    """The settings of one kernel; the default ones, ports, where the system has no sockets in files."""
    if not hasattr(socket, "AF_UNIX"):
        return Config()
    return Config({"KernelManager": {"transport": "ipc", "ip": f"{FOLDER.name}/{uuid.uuid4().hex[:8]}"}})
