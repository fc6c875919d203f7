"""A backward from a tensor without a graph: the line at which the chain from the parameters ended.

Example::

    out = model(x).detach()  # here
    loss = out.mean()
    loss.backward()          # "element 0 of tensors does not require grad"

From the failing line the text is followed back, from a name to the statement that gave it its value. Live tensors say
where to stop: a statement whose inputs require grad and whose result does not is the one, whatever it calls. Of a
function that has returned only the text is left; there the words that end a graph are looked for.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from types import FunctionType, MethodType, ModuleType, NoneType

import torch

from inplace_magic.postmortem.reading import MISSING, is_a, of_class, paths_in, unwrapped
from inplace_magic.postmortem.refused import cutters
from inplace_magic.postmortem.refused.facts import is_module, is_tensor, parameters_of, tracked
from inplace_magic.postmortem.refused.history import History, steps_above
from inplace_magic.postmortem.refused.lines import Sight, sight_in
from inplace_magic.record.places import Callsite
from inplace_magic.source.expressions import path_text
from inplace_magic.source.text import Function, FunctionNode

_MOST_LOOKS = 300
_MOST_DEPTH = 12
_MOST_NAMES = 4
_NO_TENSORS = (ModuleType, FunctionType, type, torch.nn.Module, NoneType, str, bool)


def _arguments_of(function: FunctionNode, call: ast.Call, here: Sight) -> dict[str, object]:
    """Return what a call gives for the parameters of a function, as far as it is known."""
    names = [each.arg for each in (*function.args.posonlyargs, *function.args.args)]
    names = names[1:] if names[:1] in (["self"], ["cls"]) else names
    pairs = [*zip(names, call.args, strict=False), *((word.arg, word.value) for word in call.keywords if word.arg)]
    known = {name: here.value(given) for name, given in pairs}
    return {name: value for name, value in known.items() if value is not MISSING}


def _header(block: ast.stmt) -> ast.stmt:
    """Return the first line of a compound statement, without what stands below it."""
    node = ast.Pass()
    node.lineno = node.end_lineno = block.lineno
    node.col_offset, node.end_col_offset = block.col_offset, block.col_offset
    return node


@dataclass(frozen=True, eq=False)
class Cut:
    """A place at which a graph can have ended."""

    how: str
    """As :class:`Cutter` has it; or ``block``, ``around``, ``decorator``, ``switch``, ``frozen``, ``unrequired``,
    ``operation`` or ``never``."""
    site: Callsite
    name: str | None
    """What the result is called."""
    code: str = ""
    """What ended it."""
    sure: bool = True


@dataclass(eq=False)
class Search:
    """One search for the place at which a graph ended."""

    history: History
    cuts: list[Cut] = field(default_factory=list)
    looks: int = 0

    def from_line(self, root: ast.expr) -> list[Cut]:
        """Return where the graph of the failing line's expression can have ended, likeliest first."""
        frame = len(self.history.failure.frames) - 1
        here = sight_in(self.history, frame)
        off = [*self._around_the_line(), *self._switched_off()]
        if off:
            return off
        self.lost(root, here, path_text(root), 0)
        ranked = sorted(self.cuts, key=lambda cut: (cut.how == "never", not cut.sure))
        found: list[Cut] = []
        for cut in ranked:
            if not any(cut.site.same_line(other.site) for other in found):
                found.append(cut)
        plain = [cut for cut in found if cut.how != "never"]
        return plain or found

    def lost(self, value: ast.expr, here: Sight, name: str | None, depth: int) -> bool:
        """Look for where the graph of an expression ended; return True if something was found."""
        self.looks += 1
        if depth > _MOST_DEPTH or self.looks > _MOST_LOOKS:
            return False
        if self._is_cut(value, here, name):
            return True
        block = cutters.switching_block(here.step.around) if here.step is not None else None
        follows = self._tracked(value, here)
        if block is not None and follows is not False:
            self._add("block", here, name, ast.unparse(block.items[0].context_expr), sure=follows is True)
            return True
        if self._inside_calls(value, here, name, depth):
            return True
        if here.step is not None and follows is True:
            self._add("operation", here, name, ast.unparse(value))
            return True
        return self._behind_names(value, here, name, depth)

    def _is_cut(self, value: ast.expr, here: Sight, name: str | None) -> bool:
        if here.step is None and not isinstance(value, (ast.Call, ast.BinOp, ast.Attribute)):
            return False
        for cutter in cutters.found_in(value):
            known = [self._tracked(each, here) for each in cutter.inner]
            if known and all(each is False for each in known):
                continue
            self._add(cutter.how, here, name, ast.unparse(cutter.node), sure=any(each is True for each in known))
            return True
        return False

    def _inside_calls(self, value: ast.expr, here: Sight, name: str | None, depth: int) -> bool:
        """Look into the user's functions and modules that an expression calls."""
        for call in [node for node in ast.walk(value) if isinstance(node, ast.Call)]:
            callee, owner = self._called(call, here)
            if is_module(callee):
                parameters = parameters_of(callee)
                if parameters and not any(map(tracked, parameters.values())):
                    self._frozen(here, name, ast.unparse(call.func))
                    return True
                if self._into(of_class(type(callee), "forward"), call, here, depth, first=callee):
                    return True
            elif self._into(callee, call, here, depth, first=owner):
                return True
        return False

    def _called(self, call: ast.Call, here: Sight) -> tuple[object, object]:
        """What an expression calls; of a method its function, and the object that it is called on."""
        callee = here.value(call.func)
        if callee is not MISSING or not isinstance(call.func, ast.Attribute):
            return callee, MISSING
        owner = here.value(call.func.value)
        function = of_class(type(owner), call.func.attr) if owner is not MISSING else MISSING
        return (function, owner) if type(function) is FunctionType else (MISSING, MISSING)

    def _into(self, callee: object, call: ast.Call, here: Sight, depth: int, first: object = MISSING) -> bool:
        bound = callee.__self__ if type(callee) is MethodType else first
        function = callee.__func__ if type(callee) is MethodType else callee
        if type(function) is not FunctionType:
            return False
        texts = self.history.failure.texts
        function, _recorded = unwrapped(function, texts.is_users)
        code = function.__code__
        found = texts.function(code)
        if found is None:
            return False
        filename = code.co_filename
        if (cut := self._decorated(found, filename, None)) is not None:
            self.cuts.append(cut)
            return True
        names = _arguments_of(found.node, call, here)
        if bound is not MISSING and found.node.args.args:
            names[found.node.args.args[0].arg] = bound
        hit = False
        returned = [node for node in ast.walk(found.node) if isinstance(node, ast.Return) and node.value is not None]
        for node in reversed(returned):
            above = tuple(steps_above(found.node, filename, found.name, (node.lineno, node.col_offset), None))
            own = [step for step in steps_above(found.node, filename, found.name, None, None) if step.node is node]
            inner = Sight((*own, *above), (names, function.__globals__), None, own[0] if own else None)
            assert node.value is not None
            hit = self.lost(node.value, inner, None, depth + 1) or hit
        return hit

    def _decorated(self, function: Function, filename: str, caller: Callsite | None) -> Cut | None:
        decorator = next(filter(cutters.switches_off, function.node.decorator_list), None)
        if decorator is None:
            return None
        code = ast.unparse(decorator)
        site = self.history.failure.texts.site(filename, decorator, function.name, caller)
        return Cut("decorator", replace(site, statement=f"@{code}"), None, code)  # which is no statement of its own

    def _behind_names(self, value: ast.expr, here: Sight, name: str | None, depth: int) -> bool:
        """Follow the names of an expression, none of which requires grad as far as is known."""
        hit = False
        for node in paths_in(value):
            path, known = path_text(node), here.value(node)
            if path is not None and not is_a(known, _NO_TENSORS):
                hit = self._behind(path, here, depth) or hit
        if not hit and here.step is not None and isinstance(value, ast.Call) and path_text(value.func) is not None:
            self._add("never", here, name, ast.unparse(value), sure=False)
            return True
        return hit

    def _behind(self, path: str, here: Sight, depth: int) -> bool:
        root = re.split(r"[.\[]", path, maxsplit=1)[0]
        for bound in here.before(path) if next(here.before(path), None) is not None else here.before(root):
            if bound.value is None or bound.how == "with":
                return False
            found = self.lost(bound.value, here.at(bound.step), path, depth + 1)
            if found or bound.how != "+=":
                return found
        if here.frame is not None:
            argument = self.history.binding(path, here.frame)
            if argument is not None and argument.how == "argument" and argument.value is not None:
                outer = sight_in(self.history, argument.frame or 0)
                return self.lost(argument.value, outer, path_text(argument.value), depth + 1)
        return False

    def _tracked(self, value: ast.expr, here: Sight, depth: int = 0) -> bool | None:
        """True if something in an expression requires grad, or did under the name that it had then; None where that is
        not known."""
        unknown = False
        for node in paths_in(value):
            known = here.value(node)
            if is_tensor(known):
                if tracked(known):
                    return True
            elif is_module(known):
                pass  # its parameters count where it is called
            elif known is MISSING or is_a(known, (list, tuple, dict)):
                if self._was_tracked(node, here, depth):
                    return True
                unknown = True
        for call in (node for node in ast.walk(value) if isinstance(node, ast.Call)):
            callee = here.value(call.func)
            if is_module(callee):
                if any(map(tracked, parameters_of(callee).values())):
                    return True
            elif type(callee) is FunctionType and self.history.failure.texts.is_users(callee.__code__.co_filename):
                unknown = True
        return None if unknown else False

    def _was_tracked(self, node: ast.expr, here: Sight, depth: int) -> bool:
        """True if what a name stood for before it was given another value plainly came from what requires grad."""
        bound = next(here.before(path_text(node) or ""), None)
        if bound is None or bound.value is None or depth >= _MOST_NAMES or any(cutters.found_in(bound.value)):
            return False
        recorded = cutters.switching_block(bound.step.around) is None
        return recorded and self._tracked(bound.value, here.at(bound.step), depth + 1) is True

    def _frozen(self, here: Sight, name: str | None, module: str) -> None:
        lines = (step for step in self.history.every_step() if cutters.freezes(step.node))
        sites = list(dict.fromkeys(map(self.history.site, lines)))
        for site in sites[:4]:
            self.cuts.append(Cut("frozen", site, None, module, len(sites) == 1))
        if not sites:
            self._add("unrequired", here, name, module)

    def _around_the_line(self) -> Iterator[Cut]:
        """Yield the block or decorator under which the failing line itself runs, with all that leads to it."""
        history = self.history
        texts = history.failure.texts
        for at in range(len(history.failure.frames) - 1, -1, -1):
            frame = history.failure.frames[at]
            switch = cutters.switch_around(history.around(at))
            if switch is not None:
                block, on = switch
                if not on:
                    site = texts.site(frame.code.co_filename, _header(block), frame.place.function, frame.place.caller)
                    yield Cut("around", site, None, ast.unparse(block.items[0].context_expr))
                return
            function = texts.function(frame.code)
            if function is not None and (cut := self._decorated(function, frame.code.co_filename, frame.place.caller)):
                yield cut
                return

    def _switched_off(self) -> Iterator[Cut]:
        if torch.is_grad_enabled():
            return
        for frame in range(len(self.history.failure.frames) - 1, -1, -1):
            for step in self.history.steps(frame):
                if isinstance(step.node, ast.Expr) and cutters.switches_off(step.node.value):
                    yield Cut("switch", self.history.site(step), None, ast.unparse(step.node.value))

    def _add(self, how: str, here: Sight, name: str | None, code: str, *, sure: bool = True) -> None:
        step = here.step
        site = self.history.site(step) if step is not None else self.history.failure.place
        if site is not None:
            self.cuts.append(Cut(how, site, name, code, sure and (step is None or step.sure)))
