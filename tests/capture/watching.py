"""Short ways to what a watch recorded."""

from __future__ import annotations

import inplace_magic
from inplace_magic.record.autograd import AutogradNode, SavedTensor
from inplace_magic.record.events import CallEvent
from inplace_magic.record.trace import Trace
from inplace_magic.report import Report

LEVELS = ("calls", "ops")


def report_of(watch: inplace_magic.watch) -> Report:
    """The report of a watch that had no fault of ours."""
    assert watch.report is not None
    assert watch.report.faults == []
    return watch.report


def trace_of(watch: inplace_magic.watch) -> Trace:
    """Its record."""
    return report_of(watch).trace


def calls_of(watch: inplace_magic.watch, name: str) -> list[CallEvent]:
    """The calls of that name, in their order."""
    return [call for call in trace_of(watch).calls if call.name == name]


def call_of(watch: inplace_magic.watch, name: str) -> CallEvent:
    """The one call of that name."""
    (found,) = calls_of(watch, name)
    return found


def node_of(watch: inplace_magic.watch, name: str) -> AutogradNode:
    """The one autograd node of that name."""
    (found,) = (node for node in trace_of(watch).nodes if node.name == name)
    return found


def saved_by(watch: inplace_magic.watch, name: str) -> dict[str, SavedTensor]:
    """What the one node of that name saved, by the node's own names for it."""
    node = node_of(watch, name).node
    return {saved.name: saved for saved in trace_of(watch).saved if saved.node == node}
