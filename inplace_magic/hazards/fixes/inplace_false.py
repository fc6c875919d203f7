"""Fixes that turn off ``inplace``: in the call itself, or in the line that makes the module.

Which module wrote, the record tells by the modules whose flag is on, the class whose ``forward`` ran, and what the line
calls. Of several in one ``Sequential`` it is the one whose turn it was.
"""

from __future__ import annotations

import ast

from inplace_magic.analysis.story import Story
from inplace_magic.hazards import wording
from inplace_magic.hazards.finding import Hazard
from inplace_magic.hazards.fixes.target import Fix, Written, above, text_at
from inplace_magic.language import _
from inplace_magic.record.events import CallEvent
from inplace_magic.record.grouped import grouped
from inplace_magic.record.names import InplaceModule
from inplace_magic.record.places import Callsite
from inplace_magic.source import expressions
from inplace_magic.source.expressions import path_text
from inplace_magic.source.listing import Edit
from inplace_magic.source.out_of_place import not_in_place

_OTHER_NAMES = {"hardtanh": ("hardtanh", "relu6")}
"""Functions by which modules of another name do their work; elsewhere ``nn.LeakyReLU`` calls ``F.leaky_relu``."""


def flag_turned_off(write: Written) -> Fix | None:
    """``inplace=False`` in the writing call, or where the writing module is made; None where its result is not used, or
    the line that makes it cannot be told."""
    site, call = write.site, write.call
    if call is None or not call.does("takes a flag") or site.statement.strip() == site.expression.strip():
        return None
    if site.direct:
        return write.fix(not_in_place(write.listing, write.expression), write.nbytes)
    sentence = advice(write.story, write.hazard)
    maker = text_at(write.story, _one_line_that_makes(_writing(write.story, call)))
    edit = not_in_place(maker.listing, maker.node) if maker is not None else None
    if maker is not None and edit is not None:
        in_sight = maker.listing is write.listing and not write.hazard.raised
        # The diff shows the line; the finding's own sentence also tells what to do where the write is meant.
        return Fix(maker.site, maker.listing, (edit,), write.nbytes, "" if in_sight else sentence)
    return write.fix(_in_the_module(write), write.nbytes, sentence if write.hazard.raised else "")


def flag_set_above(write: Written) -> Fix | None:
    """``model[2].inplace = False`` above the line that runs a module; None where the line has no name for it."""
    found = _writing(write.story, write.call) if write.call is not None and not write.site.direct else []
    path = _called(write.expression)
    if len(found) != 1 or path is None or not found[0].path.startswith(path):
        return None
    line = f"{write.listing.indent(write.statement)}{found[0].path}.inplace = False"
    return write.fix(above(write.statement, line), None, advice(write.story, write.hazard))


def advice(story: Story, hazard: Hazard) -> str:
    """Which module is to be told ``inplace=False``, and where; empty where no module wrote."""
    call = story.calls.get(hazard.call)
    if call is None or call.callsite is None or call.callsite.direct or not call.does("takes a flag"):
        return ""
    found = _writing(story, call)
    made = _one_line_that_makes(found)
    cls = found[0].cls if made is not None or len(found) == 1 else call.modules[-1] if call.modules else "Module"
    if made is not None and len(found) == 1:
        said = _("Set `inplace=False` on `{module}`, the {cls} that {line} runs; {made} makes it.")
    elif made is not None:
        said = _("Set `inplace=False` on the {cls} that {line} runs; {made} makes it.")
    elif len(found) == 1:
        said = _("Set `inplace=False` on `{module}`, the {cls} that {line} runs.")
    elif cls not in ("Module", "Hardtanh"):
        said = _("Set `inplace=False` on the {cls} that {line} runs.")
    else:
        return ""
    spot = _("{line} ({place})").format(line=wording.code(made.expression), place=made.place) if made else ""
    line = wording.line_of(call.callsite)
    return said.format(module=found[0].path if found else "", cls=cls, line=line, made=spot)


def _writing(story: Story, call: CallEvent) -> list[InplaceModule]:
    """Candidates for the module behind a call: its class must have run and its name be on the line; of several in one
    container, the one whose turn it was."""
    site = call.callsite
    if site is None or not call.modules:
        return []
    found = [module for module in story.trace.inplace_modules if module.defined_in == call.modules[-1]]
    called = _called(expressions.parse(site.expression))
    root, _dot, rest = (called or "").partition(".")
    if root == "self" and rest:
        own = [m for m in found if f".{rest}" == m.path[-len(rest) - 1 :] or f".{rest}[" in m.path]
    else:
        own = [m for m in found if called and (m.path == called or m.path.startswith((f"{called}[", f"{called}.")))]
    turns = grouped((module.path.rpartition("[")[2], module) for module in own)
    containers = grouped((module.path.rpartition("[")[0], module) for module in own)
    if len(own) < 2 or all(len(inside) < len(turns) for inside in containers.values()):
        return own
    same = [c for c in story.trace.calls if c.callsite == site and c.name == call.name and c.kind == "in-place"]
    turn = [c.index for c in same].index(call.index) if call in same else 0
    return list(turns.values())[turn % len(turns)] if len(same) % len(turns) == 0 else own


def _one_line_that_makes(modules: list[InplaceModule]) -> Callsite | None:
    """Return the expression that makes all of some modules; None where there are several, or one is not known."""
    places = {module.made for module in modules}
    return places.pop() if len(places) == 1 else None


def _in_the_module(write: Written) -> Edit | None:
    listing = write.listing
    if not listing.whole:
        return None
    calls = (node for node in listing.nodes if isinstance(node, ast.Call))
    makers = [call for call in calls if _makes(call, write) and _flag(call)]
    return not_in_place(listing, makers[0]) if len(makers) == 1 else None


def _called(node: ast.AST | None) -> str | None:
    """``self.relu`` of ``self.relu(x)``."""
    return path_text(node.func) if isinstance(node, ast.Call) else None


def _makes(node: ast.Call, write: Written) -> bool:
    """True if a call makes a module that works by the writing function."""
    function = write.call.operation.replace("_", "") if write.call is not None else ""
    made = (_called(node) or "").rpartition(".")[2]
    return made[:1].isupper() and made.lower() in _OTHER_NAMES.get(function, (function,))


def _flag(node: ast.Call) -> bool:
    """True if a call turns the flag on: ``nn.Dropout(0.5, inplace=True)``, ``nn.ReLU(True)``."""
    values = [entry.value for entry in node.keywords if entry.arg == "inplace"]
    if values:
        return not (isinstance(values[0], ast.Constant) and values[0].value is False)
    return any(isinstance(arg, ast.Constant) and arg.value is True for arg in node.args)
