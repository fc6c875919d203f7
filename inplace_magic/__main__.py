"""``python -m inplace_magic train.py``: runs a program as ``python train.py`` does, inside a watch."""

from __future__ import annotations

import sys

from inplace_magic.cli.command_line import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
