"""What took hold of a call's result, and when: ``h`` from ``h = relu(x)`` on, ``kept[]`` from ``kept.append(h)`` on.

Capture writes into each place what its statement puts the value into (``Callsite.targets``); here that meets the
tensors that the calls gave. What nobody could tell is absent: names given by ``exec``, by a ``for`` loop over a list,
or in library code.
"""

from __future__ import annotations

from collections.abc import Iterator

from inplace_magic.record.events import CallEvent
from inplace_magic.record.filled import filled
from inplace_magic.record.names import Binding, How
from inplace_magic.record.paths import is_some_entry
from inplace_magic.record.places import Callsite
from inplace_magic.record.trace import Trace
from inplace_magic.source import expressions

_binding = filled(Binding)


def bindings_of(trace: Trace) -> Iterator[Binding]:
    """Yield every binding of a call's result, oldest first. Of several calls that one line's expression made (a
    module's), the last one's output is what the name gets."""
    calls = [call for call in trace.calls if call.callsite is not None and call.parent is None]
    for position, call in enumerate(calls):
        site = call.callsite
        if site is None or site.targets is None or not call.outputs:
            continue
        following = calls[position + 1] if position + 1 < len(calls) else None
        goes_on = following is not None and following.callsite == site
        if not site.direct and (goes_on or expressions.makes_an_object(site.expression)):
            continue
        if _is_copied(site, following):
            continue
        is_one_for_several = len(site.targets) == 1 < len(call.outputs)
        for path, output in zip(site.targets, () if is_one_for_several else call.outputs, strict=False):
            if path is not None:
                how: How = "returned" if path == "return" else "stored" if is_some_entry(path) else "assigned"
                yield _binding(output.tensor, call.index, path, how, site)


def _is_copied(site: Callsite, following: CallEvent | None) -> bool:
    """True if the statement copies the value into elements of a tensor, as ``out[0] = x[0]`` does."""
    after = following.callsite if following is not None and following.does("sets item") else None
    return after is not None and (after.line, after.statement) == (site.line, site.statement)
