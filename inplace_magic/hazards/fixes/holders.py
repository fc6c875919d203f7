"""Who else has a name for the very tensor that a line writes, and reads it afterwards.

``keep = h`` above ``h += 1`` makes `keep` see the write. With ``h = h + 1`` it would not, so the name may be bound anew
only where nobody reads the tensor by a name that it had before::

    def act(h):
        h.mul_(2)
        return h

    z = act(y)                      # y + z: `y` has seen the write
    y = act(y)                      # y + 1: nobody has the old name any more
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from inplace_magic.analysis.story import Story
from inplace_magic.record.events import CallEvent
from inplace_magic.record.places import Callsite, where_they_part
from inplace_magic.source.chains import paths_read
from inplace_magic.source.expressions import path_text
from inplace_magic.source.listing import Listing, listing_of


def is_read_by_another_name(story: Story, wrote: CallEvent, path: str, tensor: int) -> bool:
    """Whether a later call reads the written tensor by a name that it had before the write.

    Args:
        story: of the watch.
        wrote: the write.
        path: by which its line writes.
        tensor: what it wrote.
    """
    if wrote.callsite is None:
        return False
    for call in story.given_to.get(tensor, ()):
        site = call.callsite
        if call.index <= wrote.index or site is None:
            continue
        here, there = where_they_part(wrote.callsite.chain, site.chain)
        if not here.same_function(there):
            continue
        listing = listing_of(story.trace, there)
        own = path if here.same_function(wrote.callsite) else None
        for name in paths_read(site, there):
            last = name.rpartition(".")[2]
            same = name == own or ("." in name and last == path.rpartition(".")[2])
            held = not same and story.bindings.stood_for(there, name, call.index) == tensor
            if held and listing is not None and not _is_bound_between(listing, name, here, there):
                return True
    return False


def _is_bound_between(listing: Listing, name: str, here: Callsite, there: Callsite) -> bool:
    """Whether a name gets its value from the line that leads to the write, or from one between that and the read."""
    lines = [node.lineno for node in _stores(listing, name)]
    return not listing.whole or any(here.line <= line <= there.line for line in lines)


def _stores(listing: Listing, name: str) -> Iterator[ast.expr]:
    if name.isidentifier():
        yield from listing.stores.get(name, ())
        return
    stored = (node for node in listing.nodes if isinstance(node, (ast.Attribute, ast.Subscript)))
    yield from (node for node in stored if isinstance(node.ctx, ast.Store) and path_text(node) == name)
