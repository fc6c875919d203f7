"""What a watch can be blind to: the sentences that a trace carries in English, and their way into other languages."""

from __future__ import annotations

import re
from functools import cache

from inplace_magic.language import N_, _

OTHER_THREADS = N_("Calls on other Python threads are not seen.")
COMPILED = N_("torch.compile runs its functions eagerly while they are watched.")
INSIDE_CALLS = N_(
    "At level `calls`, ops inside a torch call, backward's own ops and temporaries are not seen; `--level ops` sees "
    "them."
)
STAYS_EAGER = N_("A compiled function that ran at level `ops` stays eager until `torch._dynamo.reset()`.")
SCRATCH = N_("CPU memory that one operator allocates and frees before it returns is not counted.")
SAVED_EARLIER = N_(
    "This PyTorch shows what autograd saved only right after the call: what a custom Function saved, and what was "
    "saved before the watch, is not seen."
)
TOO_LARGE = N_(
    "{count} storages ({nbytes} B) are shared with NumPy or other code outside torch and too large to be checked for "
    "writes from there; --check-values checks them."
)
FORGOTTEN = N_(
    "{count} of {begun} calls were forgotten again to bound memory (--max-events {limit}); each line's first calls, "
    "the latest calls and all that may still matter to a backward were kept. Memory by line covers only what was kept."
)
NO_ROOM = N_("Some calls at the end of a deep recursion were not recorded: Python's stack had no room left for it.")
SENTENCES = (OTHER_THREADS, COMPILED, INSIDE_CALLS, STAYS_EAGER, SCRATCH, SAVED_EARLIER, TOO_LARGE, FORGOTTEN, NO_ROOM)


def retold(sentence: str) -> str:
    """A sentence of a trace in the current language; one that is not known here stays as it is."""
    for template in SENTENCES:
        match = _pattern(template).fullmatch(sentence)
        if match is not None:
            return _(template).format(**match.groupdict())
    return sentence


@cache
def _pattern(template: str) -> re.Pattern[str]:
    fixed = re.split(r"\{(\w+)\}", template)
    return re.compile("".join(f"(?P<{part}>[\\d,]+)" if at % 2 else re.escape(part) for at, part in enumerate(fixed)))
