"""Leaves that were written in place: what the write was meant for."""

from __future__ import annotations

from inplace_magic.record.trace import CallEvent


def is_update(call: CallEvent) -> bool:
    """Whether a refused write is plainly one of a parameter's values: nobody uses what it gives, and it reads nothing
    through which a gradient is to flow. A parameter must stay the object that its module and the optimizer know."""
    site = call.callsite
    if site is None or not site.direct or not call.inputs or call.inputs[0].cls != "Parameter":
        return False
    dropped = site.statement.strip() == site.expression.strip() or call.does("sets item")
    others = any(meta.requires_grad for meta in call.inputs[1:]) and not call.does("copies in")
    return dropped and not others and call.inputs[0].is_leaf


def is_computed(made: CallEvent | None) -> bool:
    """Whether a call computed the leaf from other tensors; what it gave was made to require grad afterwards. A copy of
    data, or new memory, is rather the beginning of something that is to be learned."""
    if made is None or made.callsite is None or made.kind == "view" or not made.inputs:
        return False
    if made.outputs[0].cls == "Parameter" or made.does("copy"):
        return False
    return bool(made.callsite.expression) and "requires_grad" not in made.callsite.expression
