"""What a watch can be blind to: the sentences that a trace carries in English, and their way into other languages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache

from inplace_magic.language import N_, _, ngettext

OTHER_THREADS = N_("Calls on other Python threads are not seen.")
INSIDE_CALLS = N_(
    "At level `calls`, ops inside a torch call, backward's own ops and temporaries are not seen; `--level ops` sees "
    "them."
)
SCRATCH = N_("CPU memory that one operator allocates and frees before it returns is not counted.")
SAVED_EARLIER = N_(
    "This PyTorch shows what autograd saved only right after the call: what a custom Function saved, and what was "
    "saved before the watch, is not seen."
)
WRITES_ALONE = N_(
    "At level `writes` only who wrote which memory is recorded, of the newest writes, to explain an error of backward; "
    "nothing else is judged."
)
WRITES_SAVER = N_("Which line made {node} is not recorded at level `writes`; level `calls` tells it.")
WRITES_FORGOTTEN = N_(
    "The first write after the save is no longer among those that level `writes` keeps (--max-events); later ones are."
)
WRITES_INCOMPLETE = N_(
    "The first write after the save was not seen: it was made inside a torch function, on another thread or outside "
    "torch."
)
WRITES_NOT_TOLD = N_("Which node refused, and so whose write it was, could not be told from the graph that failed.")
NOT_WATCHED = N_("Nothing was watched: this is told from what the error left, its graph and the text of the lines.")
RAN_AGAIN = N_("Told from a second run of lines {first} to {last}, on copies of what their variables hold now.")
TOO_LARGE = N_(
    "{count} storages ({nbytes} B) are shared with NumPy or other code outside torch and too large to be checked for "
    "writes from there; --check-values checks them."
)
FORGOTTEN = N_(
    "To limit memory, {count} of {begun} calls were discarded (--max-events {limit}); each line's first calls, the "
    "latest calls and all that may still matter to a backward were kept. Memory by line covers only what was kept."
)
REPEATED = N_(
    "{count} calls did again what 64 calls and more right before them had done, with nothing in between: of these it "
    "is recorded how many they were and what they led to, and nothing else (--full records each of them)."
)
NOT_JUDGED = N_(
    "Where calls were discarded, nothing is said of what did not happen: a gradient not cleared, a result not used."
)
NAMES_LIMITED = N_(
    "Which names, objects and modules hold which tensors was noted up to a limit, which this run reached: findings "
    "that rest on what came after that are missing."
)
NO_ROOM = N_("Some calls at the end of a deep recursion were not recorded: Python's stack had no room left for it.")
EDITED = N_("{file} was changed after it was loaded: some lines of it are told by their numbers in the older version.")
THREADS = N_("The watched code started other Python threads ({count} or more). What they did was not seen.")
PROCESSES = N_("The watched code started other processes ({count} or more). What they did was not seen.")
GAVE_WAY = N_(
    "The program began a watch of its own: this one ended there, and what came after is in the program's own report."
)
STEPPED_DOWN = N_(
    "Level `ops` was asked for, and the watch went on at level `calls`: under any dispatch mode PyTorch refuses to "
    "make an object of {names} from a tensor."
)
FORKED = N_("This is a forked child of the process that was watched; a child is not watched.")
TOO_DEEP = N_(
    "From {place} on, the autograd nodes of {count} results were not looked at, nor what they saved: their graphs are "
    "too deep. PyTorch frees nodes that were looked at by recursion, and more of them would exhaust the stack."
)
RAN_COMPILED = N_("`{call}` ({place}) ran compiled: what it did inside was not seen.")
TRACED = N_("`{call}` ({place}): what PyTorch ran while it traced was not seen.")
FUNCTIONALIZED = N_("`{call}` ({place}) ran functionalized: what it did inside was not seen.")
SCRIPTED = N_("`{call}` ({place}) ran TorchScript: what it did inside was not seen.")
HIGHER_ORDER = N_("`{call}` ({place}) ran a higher-order operator: the operators inside it were not seen.")
REPLAYED = N_(
    "Replays of a CUDA graph by `{call}` ({place}): {count}. What their operators read and wrote was not seen."
)
MAY_HAVE_SKIPPED = N_(
    "`{call}` ({place}) may have skipped its writes, which only the device knows: no finding rests on them."
)
NOT_SEEN_MORE = N_("So it was with {count} more lines.")
INSIDE_PADDLE_CALLS = N_("Ops inside a call of Paddle, and backward's own ops, are not seen.")
NO_OPS_OF_PADDLE = N_("Level `ops` does not exist for Paddle's tensors: they were watched at level `calls`.")
NO_WRITES_OF_PADDLE = N_("Level `writes` does not exist for Paddle's tensors: they were watched at level `calls`.")
UNKNOWN_SAVES = N_("What these calls keep for backward is not known: {call}. A later write to it goes unnoticed.")
LATEST_KEPT = N_("{count} of {begun} calls were forgotten again to bound memory (--max-events {limit}).")
PADDLE_TOO_OLD = N_("Paddle {file} is older than 3.0, the first version that can be watched: its calls were not seen.")
TWO_FRAMEWORKS = N_(
    "Calls of a second framework in the watched code: {count}. A report is about the tensors of one of them; watch the "
    "other in a cell of its own."
)
_EARLIER = (
    N_(
        "{count} of {begun} calls were forgotten again to bound memory (--max-events {limit}); each line's first "
        "calls, the latest calls and all that may still matter to a backward were kept. Memory by line covers only "
        "what was kept."
    ),
    N_(
        "Where calls were forgotten, nothing is said of what did not happen: a gradient not cleared, a result not used."
    ),
    N_("torch.compile runs its functions eagerly while they are watched."),
    N_("A compiled function that ran at level `ops` stays eager until `torch._dynamo.reset()`."),
)
"""Said by earlier versions; their saved reports open."""
SENTENCES = (
    *(OTHER_THREADS, INSIDE_CALLS, SCRATCH, SAVED_EARLIER, TOO_LARGE, FORGOTTEN, NO_ROOM, TOO_DEEP, NAMES_LIMITED),
    *(WRITES_ALONE, WRITES_SAVER, WRITES_FORGOTTEN, WRITES_INCOMPLETE, WRITES_NOT_TOLD),
    *(NOT_JUDGED, NOT_WATCHED, RAN_AGAIN, EDITED, THREADS, PROCESSES, GAVE_WAY, STEPPED_DOWN, FORKED),
    *(INSIDE_PADDLE_CALLS, NO_OPS_OF_PADDLE, NO_WRITES_OF_PADDLE, UNKNOWN_SAVES, LATEST_KEPT, PADDLE_TOO_OLD),
    TWO_FRAMEWORKS,
    *(RAN_COMPILED, TRACED, FUNCTIONALIZED, SCRIPTED, HIGHER_ORDER, NOT_SEEN_MORE, *_EARLIER),
    *(REPLAYED, MAY_HAVE_SKIPPED, REPEATED),
)

RAN_UNSEEN: dict[str, Callable[[int], str]] = {
    THREADS: lambda count: ngettext("{count} other thread", "{count} other threads", count),
    PROCESSES: lambda count: ngettext("{count} process", "{count} processes", count),
    GAVE_WAY: lambda _count: _("what came after the program's own watch began"),
    RAN_COMPILED: lambda count: ngettext("{count} compiled call", "{count} compiled calls", count),
    TRACED: lambda count: ngettext("{count} traced call", "{count} traced calls", count),
    FUNCTIONALIZED: lambda count: ngettext("{count} functionalized call", "{count} functionalized calls", count),
    SCRIPTED: lambda count: ngettext("{count} TorchScript call", "{count} TorchScript calls", count),
    REPLAYED: lambda count: ngettext("{count} replay of a CUDA graph", "{count} replays of a CUDA graph", count),
    HIGHER_ORDER: lambda count: ngettext("{count} higher-order operator", "{count} higher-order operators", count),
    NOT_SEEN_MORE: lambda count: ngettext("{count} more line", "{count} more lines", count),
    TWO_FRAMEWORKS: lambda count: ngettext(
        "{count} call of another framework", "{count} calls of another framework", count
    ),
    PADDLE_TOO_OLD: lambda count: _("Paddle's calls"),
}
"""The sentences which say that some of the watched code ran where nobody looked, with its name in a verdict. The others
hold for every watch of a level, or are about details of what was seen."""


def retold(sentence: str) -> str:
    """Return a sentence of a trace in the current language; one that is not known here stays as it is."""
    for template in SENTENCES:
        match = _pattern(template).fullmatch(sentence)
        if match is not None:
            return _(template).format(**match.groupdict())
    return sentence


def was_said(template: str, sentences: Iterable[str]) -> bool:
    """True if one of the sentences of a trace is this one."""
    return any(_pattern(template).fullmatch(sentence) is not None for sentence in sentences)


def unseen_work(sentences: Iterable[str]) -> tuple[str, ...]:
    """What of the watched code ran unseen, in the current language: ``2 other threads``, ``1 process``.

    Args:
        sentences: ``Trace.blindness``; each counts as its `count` says, else as one.
    """
    counts: dict[str, int] = {}
    for sentence in sentences:
        for template in RAN_UNSEEN:
            match = _pattern(template).fullmatch(sentence)
            if match is not None:
                count = int(match.groupdict().get("count", "1").replace(",", ""))
                counts[template] = counts.get(template, 0) + count
    return tuple(RAN_UNSEEN[template](count).format(count=count) for template, count in counts.items())


_NUMBER = r"[\d,]+"
_VALUES = {"file": ".+", "node": ".+", "place": ".+", "call": ".+", "names": ".+"}
"""What stands for a placeholder, where that is no number."""


@cache
def _pattern(template: str) -> re.Pattern[str]:
    fixed = re.split(r"\{(\w+)\}", template)
    return re.compile(
        "".join(
            f"(?P<{part}>{_VALUES.get(part, _NUMBER)})" if at % 2 else re.escape(part) for at, part in enumerate(fixed)
        ),
        re.DOTALL,
    )
