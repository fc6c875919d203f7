"""Where Paddle's operations stand in Python, and putting stand-ins there for the time of a watch.

Paddle has no mode and no callback by which calls could be seen. Its Python code looks an operation up as an attribute
of ``paddle._C_ops``; some modules bind it early (``from paddle._C_ops import …``), so their copies are replaced too.
Operators, indexing and a few methods are methods of ``paddle.Tensor`` in C++. Each spot gets its old object back.

    `_C_ops.relu_`                       a function of C++, found under its name at each call
    `paddle.tensor.math.add_n`           an early-bound copy of one
    `paddle.Tensor.__mul__`              a method in C++
    `paddle.Tensor.set_value`, `.data`   a method in Python, and an attribute that can be assigned
    `core.eager.run_backward`            what `backward` and `paddle.grad` end in
    `PyLayer.apply`, `PyLayerContext.save_for_backward`
    `paddle.Tensor.grad`                 an attribute that gives another object at each read
    `paddle.Tensor.clear_gradient`       which zeroes a gradient, and which every `clear_grad` ends in
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from types import BuiltinFunctionType
from typing import Any, NamedTuple

import paddle
from paddle.autograd.py_layer import PyLayer, PyLayerContext

from inplace_magic.capture.paddle.functions import OpFacts

_core: Any = paddle.base.core
_METHODS = (
    *("copy_", "clone", "detach", "detach_", "contiguous", "numpy", "_copy_to", "_inplace_assign"),
    *("_getitem_dygraph", "_setitem_dygraph", "_share_buffer_to", "_share_underline_tensor_to"),
    *(f"__{name}__" for name in ("add", "radd", "sub", "rsub", "mul", "rmul", "div", "rdiv", "truediv", "rtruediv")),
    *(f"__{name}__" for name in ("floordiv", "rfloordiv", "pow", "rpow", "mod", "rmod", "matmul", "rmatmul")),
    *(f"__{name}__" for name in ("gt", "ge", "lt", "le", "eq", "ne")),
    "set_value",
)
_CLEARS = ("clear_gradient", "clear_gradient", "clears")
_OP_MODULES = ("paddle._C_ops", "paddle._legacy_C_ops")
_IN_C = "paddle.base.libpaddle"
_MISSING = object()


class Spot(NamedTuple):
    """An attribute, what stands there, and what is called through it."""

    holder: Any
    name: str
    original: Any
    """What is put back; :data:`_MISSING` where the attribute is inherited, and removed again."""
    facts: OpFacts
    kind: str = "function"
    """``function``, ``setter`` (assignment to an attribute), ``reads`` (of one), ``clears``, ``apply`` or ``saves``
    (of a ``PyLayer``)."""


class Wardrobe(NamedTuple):
    """Spots as they are put on: nearly all are functions in a few modules, of which each is changed in one go. To set
    one attribute after the other took as long as all else of a short watch."""

    modules: tuple[tuple[dict[str, Any], dict[str, Any]], ...]
    """The names of a module, and what stands under those of them that are spots."""
    functions: dict[int, Spot]
    """Of each function in a module the first spot, by the function's ``id``: its stand-in is that of all of them."""
    others: tuple[Spot, ...]
    """Those in classes."""


NOTHING = Wardrobe((), {}, ())

_imported: list[str] = []
"""The modules that were there when spots were last asked for: mostly the same, which is seen at once."""
_modules = 0
"""How many of them were Paddle's."""
_last: tuple[tuple[Spot, ...], Wardrobe] | None = None


def spots() -> tuple[Spot, ...]:
    """Return all of them; looked for anew when Paddle has imported more of itself."""
    global _imported, _modules
    imported = list(sys.modules)
    if imported != _imported:
        _imported, _modules = imported, sum(name.startswith("paddle") for name in imported)
    return _found(_modules)


@lru_cache(maxsize=1)
def _found(_modules: int, /) -> tuple[Spot, ...]:
    return (*_functions(), *_methods())


def wardrobe_of(found: tuple[Spot, ...]) -> Wardrobe:
    """How spots are put on; of the same ones, which most watches have, it is kept."""
    global _last
    if _last is None or _last[0] is not found:
        modules: dict[int, tuple[dict[str, Any], dict[str, Any]]] = {}
        functions: dict[int, Spot] = {}
        others = []
        for spot in found:
            names = vars(spot.holder)
            if spot.kind == "function" and type(names) is dict:
                modules.setdefault(id(spot.holder), (names, {}))[1][spot.name] = spot.original
                functions.setdefault(id(spot.original), spot)
            else:
                others.append(spot)
        _last = found, Wardrobe(tuple(modules.values()), functions, tuple(others))
    return _last[1]


def put_on(wardrobe: Wardrobe, stand_in: Callable[[Spot], Any]) -> None:
    """Puts stand-ins into the spots."""
    made = {key: stand_in(spot) for key, spot in wardrobe.functions.items()}
    for names, originals in wardrobe.modules:
        names.update({name: made[id(original)] for name, original in originals.items()})
    for spot in wardrobe.others:
        setattr(spot.holder, spot.name, stand_in(spot))


def take_off(wardrobe: Wardrobe) -> None:
    """Puts the old objects back; an interrupt on the way is let through when it is done."""
    interrupted: BaseException | None = None
    modules, others = list(wardrobe.modules), list(wardrobe.others)
    while modules or others:
        try:
            while others:
                spot = others[-1]
                if spot.original is _MISSING:
                    if spot.name in vars(spot.holder):
                        delattr(spot.holder, spot.name)
                else:
                    setattr(spot.holder, spot.name, spot.original)
                others.pop()
            while modules:
                names, originals = modules[-1]
                names.update(originals)
                modules.pop()
        except BaseException as struck:  # an interrupt of the user's: the same spot once more
            interrupted = struck
    if interrupted is not None:
        raise interrupted


@cache
def facts_of(name: str, owner: str = "") -> OpFacts:
    """Return the facts of an operation, computed once."""
    return OpFacts(name, owner)


def _functions() -> Iterator[Spot]:
    originals: dict[int, str] = {}
    for module_name in _OP_MODULES:
        module = sys.modules.get(module_name)
        for name, value in list(vars(module).items()) if module is not None else ():
            if type(value) is BuiltinFunctionType and not name.startswith("__") and not name.startswith("get_"):
                originals[id(value)] = name
                yield Spot(module, name, value, facts_of(name))
    for module_name, module in list(sys.modules.items()):
        if not module_name.startswith("paddle.") or module_name.startswith(_IN_C) or module_name in _OP_MODULES:
            continue  # of the modules in C++ nobody calls a function but by way of those above
        for name, value in list(getattr(module, "__dict__", {}).items()):
            if type(value) is BuiltinFunctionType and id(value) in originals:
                yield Spot(module, name, value, facts_of(originals[id(value)]))
    for name in ("run_backward", "run_partial_grad"):
        yield Spot(_core.eager, name, getattr(_core.eager, name), facts_of(name))


def _methods() -> Iterator[Spot]:
    own = vars(paddle.Tensor)
    for name in _METHODS:
        if name in own:
            yield Spot(paddle.Tensor, name, own[name], facts_of(name, "Tensor"))
    for name, known_as, kind in (("data", "data =", "setter"), ("grad", "grad", "reads"), _CLEARS):
        if name in own:
            yield Spot(paddle.Tensor, name, own[name], facts_of(known_as, "Tensor"), kind)
    yield Spot(PyLayer, "apply", vars(PyLayer).get("apply", _MISSING), facts_of("apply"), "apply")
    saves = "save_for_backward"
    yield Spot(PyLayerContext, saves, vars(PyLayerContext)[saves], facts_of(saves), "saves")
