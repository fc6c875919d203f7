"""Reports by hand for the renderers' tests."""

from __future__ import annotations

import dataclasses
from typing import Any

from builders import sigmoid_report, site, tensor

from inplace_magic.record.autograd import AutogradNode, SavedTensor
from inplace_magic.record.events import CallEvent, Mutation
from inplace_magic.record.memory import Storage
from inplace_magic.record.trace import Trace
from inplace_magic.report import Report

HOSTILE = "<script>alert(1)</script>\"onmouseover='x' `]]>--></style>&lt;b&gt;\\N\\n\x00\x1b\ud800"
FIXED = {"kind", "severity", "origin", "level"}
"""String fields that can hold only words of ours."""


def fine_report() -> Report:
    """Two calls, one of them in-place, nothing wrong."""
    cell = ("%%inplace_watch", "x = torch.zeros(3)", "x.add_(1)")
    x = tensor(1, shape=(3,))
    after = dataclasses.replace(x, version=1)
    write = Mutation(1, 0, 1, 1, 1, (0.0, 0.0, 0.0), (1.0, 1.0, 1.0))
    return Report(
        Trace(
            calls=(
                CallEvent(0, "torch.zeros", "ordinary", site(2, cell), outputs=(x,)),
                CallEvent(1, "Tensor.add_", "in-place", site(3, cell), (x,), (after,), (write,), mutated=(after,)),
            ),
            storages=(Storage(1, 12, "cpu", born=0),),
            cell=7,
            source=cell,
        )
    )


def long_report(calls: int) -> Report:
    """A chain of `calls` tracked calls on lines of their own, each keeping its result; the middle one is guilty."""
    source = ("%%inplace_watch", *(f"t{i} = torch.exp(t{i - 1})" for i in range(1, calls + 1)))
    events = []
    for i in range(calls):
        given = tensor(i, requires_grad=True, is_leaf=i == 0)
        made = tensor(i + 1, requires_grad=True, is_leaf=False, node=i)
        events.append(CallEvent(i, "torch.exp", "ordinary", site(i + 2, source), (given,), (made,)))
    trace = Trace(
        calls=tuple(events),
        nodes=tuple(AutogradNode(i, "ExpBackward0", i, call=i) for i in range(calls)),
        saved=tuple(SavedTensor(i, "result", i + 1, i + 1, 0, i + 1, (8,), (1,), 0) for i in range(calls)),
        storages=tuple(Storage(i + 1, 32, "cpu", born=i) for i in range(calls)),
        cell=7,
        source=source,
    )
    middle = calls // 2
    found = dataclasses.replace(
        sigmoid_report().findings[0],
        call=middle,
        saved_call=middle - 1,
        mutation=site(middle + 2, source),
        mutations=(),
    )
    return Report(trace, (found,))


def hostile_report() -> Report:
    """The sigmoid report with every free string field, in every record, replaced by an attack."""
    report = sigmoid_report()
    trace = dataclasses.replace(report.trace, error="", torch_version="", faults=("",))
    return Report(_infected(trace), _infected(report.findings))


def _infected(value: Any) -> Any:
    if isinstance(value, str):
        return HOSTILE
    if isinstance(value, tuple):
        return tuple(_infected(item) for item in value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        changes = {f.name: _infected(getattr(value, f.name)) for f in dataclasses.fields(value) if f.name not in FIXED}
        return dataclasses.replace(value, **changes)
    return value
