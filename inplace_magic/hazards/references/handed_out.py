"""``return noise(patch), patch``: two results, where the first was made by writing the second in place.

What stands beside a call's result in a ``return`` is no call, so no place in the record tells it; the statement does.
"""

from __future__ import annotations

import ast

from inplace_magic.analysis.story import Story
from inplace_magic.hazards.references.owners import Owned
from inplace_magic.hazards.references.runs import run_around
from inplace_magic.record.events import CallEvent
from inplace_magic.source import expressions


def handed_out_beside_itself(story: Story, write: CallEvent, tensor: int, owned: Owned) -> bool:
    """Whether a statement returns or yields a call's result and, beside it, the argument that the call wrote and gave
    back: whoever hands out both takes them for two.

    Args:
        story: the trace.
        write: the call that wrote.
        tensor: what it wrote.
        owned: the function that hands out, and its name for the tensor.
    """
    node = expressions.parse(owned.site.statement)
    given = node.value if isinstance(node, (ast.Return, ast.Yield)) else None
    called = expressions.parse(owned.site.expression)
    if not isinstance(given, ast.Tuple) or not isinstance(called, ast.Call):
        return False
    is_first = any(ast.dump(entry) == ast.dump(called) for entry in given.elts)
    is_beside = any(expressions.path_text(entry) == owned.path for entry in given.elts)
    return is_first and is_beside and _gave_back(story, write, tensor, owned)


def _gave_back(story: Story, write: CallEvent, tensor: int, owned: Owned) -> bool:
    """Whether the last call below an expression gave the tensor."""
    last = write.index
    if write.callsite != owned.site:
        run = run_around(story, write, owned.site)
        if run is None:
            return False
        last = run.last
    return any(output.tensor == tensor for output in story.calls[last].outputs)
