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
    "This PyTorch version shows saved tensors only right after the call. Those of a custom Function, and those saved "
    "before the watch, are not seen."
)
WRITES_ALONE = N_(
    "Level `writes` records only the newest writes of each memory, to explain an error of backward. Nothing else is "
    "judged."
)
WRITES_SAVER = N_("Level `writes` does not record which line made {node}; level `calls` does.")
WRITES_FORGOTTEN = N_(
    "Level `writes` has already discarded the first write after the save (--max-events); later writes remain."
)
WRITES_INCOMPLETE = N_(
    "The first write after the save was not seen: it happened inside a torch function, on another thread or outside "
    "torch."
)
WRITES_NOT_TOLD = N_("The failed graph does not show which node refused, so the write that it refused is unknown.")
NOT_WATCHED = N_("Nothing was watched: this comes from the error, its graph and the text of the lines.")
RAN_AGAIN = N_("This comes from a second run of lines {first} to {last}, on copies of their variables' present values.")
TOO_LARGE = N_(
    "{count} storages ({nbytes} B) are shared with NumPy or other code outside torch and too large to be checked for "
    "outside writes; --check-values checks them."
)
FORGOTTEN = N_(
    "To limit memory, {count} of {begun} calls were discarded (--max-events {limit}). Each line's first calls, the "
    "latest calls and all that backward may need remain. Memory by line covers only the remaining calls."
)
REPEATED = N_(
    "{count} calls repeated the 64 or more calls right before them. Only their number and their effect are recorded "
    "(--full records each of them)."
)
NOT_JUDGED = N_(
    "Because calls were discarded, no finding says that something did not happen, such as a gradient not cleared or a "
    "result not used."
)
NAMES_LIMITED = N_(
    "This run reached the limit for recording which names, objects and modules hold which tensors. Findings that need "
    "later ones are missing."
)
NO_ROOM = N_("Some calls at the end of a deep recursion were not recorded: Python's stack was full.")
EDITED = N_("{file} was changed after it was loaded: some of its lines have the numbers of the older version.")
THREADS = N_("The watched code started other Python threads ({count} or more). What they did was not seen.")
PROCESSES = N_("The watched code started other processes ({count} or more). What they did was not seen.")
GAVE_WAY = N_("The program began its own watch: this one ended there, and the program's own report has the rest.")
STEPPED_DOWN = N_(
    "The watch went on at level `calls` instead of `ops`: under any dispatch mode PyTorch refuses to make an object of "
    "{names} from a tensor."
)
FORKED = N_("This is a forked child of the watched process; a child is not watched.")
TOO_DEEP = N_(
    "From {place} on, the graphs of {count} results are too deep: their autograd nodes, and the tensors that these "
    "saved, were not read. PyTorch frees nodes that Python has read by recursion, and more of them would exhaust the "
    "stack."
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
NOT_SEEN_MORE = N_("The same holds for {count} more lines.")
INSIDE_PADDLE_CALLS = N_("Ops inside a call of Paddle, and backward's own ops, are not seen.")
NO_OPS_OF_PADDLE = N_("Level `ops` does not exist for Paddle's tensors: they were watched at level `calls`.")
NO_WRITES_OF_PADDLE = N_("Level `writes` does not exist for Paddle's tensors: they were watched at level `calls`.")
UNKNOWN_SAVES = N_("It is unknown what these calls keep for backward: {call}. A later write to it is not reported.")
LATEST_KEPT = N_("To limit memory, {count} of {begun} calls were discarded (--max-events {limit}).")
PADDLE_TOO_OLD = N_("Paddle {file} is older than 3.0, the first version that can be watched: its calls were not seen.")
TWO_FRAMEWORKS = N_(
    "Calls of a second framework in the watched code: {count}. A report covers one framework; watch the other in its "
    "own cell."
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
SENTENCES = (*(text for name, text in vars().copy().items() if name.isupper() and isinstance(text, str)), *_EARLIER)
"""All of them."""

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
