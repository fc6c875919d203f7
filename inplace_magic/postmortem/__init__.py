"""The cause of an autograd error that nobody watched, read from what the failure left: nothing of the user's runs.

Read are the exception and its traceback, the variables of its frames, the graph that is still alive (its
``_raw_saved_…``, which does not unpack), the user's namespace, and the text of cells and files. The graph gives the
node that refused, what it had saved and the versions; the text gives the lines that can have written that memory, in
the order in which they ran. Only where the facts leave one line is it called the cause. It knows no watch and no
report.
"""

from __future__ import annotations

from inplace_magic.postmortem.errors import answer_to
from inplace_magic.postmortem.failure import Cell

__all__ = ["Cell", "answer_to"]
