"""What the table of errors has for each kind."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from inplace_magic.postmortem.failure import Failure
from inplace_magic.record.answer import Answer


@dataclass(frozen=True)
class Kind:
    """A kind of errors."""

    code: str
    """That of a watch's finding where there is one."""
    pattern: re.Pattern[str]
    explain: Callable[[Failure], Answer | None]
    why: str = ""
    """Why PyTorch refuses it, in one sentence; marked for the catalogues."""
