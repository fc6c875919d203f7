"""Cells nobody would write: random tensor code.

The generator keeps count of shapes so that most statements run; whether autograd then allows a write is left to chance,
because what PyTorch refuses is worth watching too. Every variable is a small float32 tensor without empty dimensions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from no_harm.fuzz.cells import Block, Cell, Line, Statement

Shape = tuple[int, ...]

IN_PLACE_HELPERS = ("scaled({}, 0.5)", "shifted({})", "rectified({})")


@dataclass
class _Maker:
    random: Random
    shapes: dict[str, Shape] = field(default_factory=dict)
    """Variables in scope, the newest last."""
    autograd: dict[str, str] = field(default_factory=dict)
    """What autograd thinks of a variable, as far as it can be told: ``leaf``, ``tracked``, or ``plain``."""
    made: int = 0
    depth: int = 0
    recording: bool = True
    """False inside ``no_grad``."""

    def fresh(self, shape: Shape, *parents: str, autograd: str = "") -> str:
        """A new name."""
        self.made += 1
        return self.bind(f"v{self.made}", shape, *parents, autograd=autograd)

    def bind(self, name: str, shape: Shape, *parents: str, autograd: str = "") -> str:
        """Notes what a name points to from now on; what autograd thinks of it follows from its parents."""
        grown = any(self.autograd.get(parent, "plain") != "plain" for parent in parents)
        self.shapes[name] = shape
        self.autograd[name] = autograd or ("tracked" if grown and self.recording else "plain")
        return name

    def pick(self, shape: Shape | None = None, dims: int = 0, kinds: tuple[str, ...] = ()) -> str:
        """A variable of that shape, or of at least that many dimensions; the newer the likelier. Mostly
        of those kinds."""
        fitting = [n for n, s in self.shapes.items() if (shape is None or s == shape) and len(s) >= dims]
        if kinds and self.random.random() < 0.93:
            fitting = [n for n in fitting if self.autograd[n] in kinds] or fitting
        if not fitting:
            return ""
        return fitting[-1 - min(self.random.randrange(len(fitting)), self.random.randrange(len(fitting)))]

    def target(self, dims: int = 0) -> str:
        """A variable to write; mostly one that autograd lets be written."""
        name = self.pick(dims=dims, kinds=("plain", "tracked") if self.recording else ())
        if name and self.recording and self.autograd[name] == "plain" and self.random.random() < 0.3:
            name = self.pick(dims=dims, kinds=("tracked",))
        return name


def make_cell(random: Random) -> Cell:
    """A cell of 6 to 18 statements, blocks counted by what is in them."""
    maker = _Maker(random)
    statements: list[Statement] = [_create(maker), _create(maker)]
    budget = random.randrange(4, 17)
    while budget > 0:
        statement = _statement(maker, depth=0)
        statements.append(statement)
        budget -= _size(statement)
    if random.random() < 0.8:
        statements.append(_backward(maker))
    return Cell(tuple(statements))


def _size(statement: Statement) -> int:
    return 1 if isinstance(statement, Line) else 1 + sum(map(_size, statement.body + statement.handler))


def _statement(maker: _Maker, depth: int) -> Statement:
    chance = maker.random.random()
    if not maker.shapes:
        return _create(maker)
    if depth < 2 and chance < 0.14:
        return _block(maker, depth)
    for limit, kind in _KINDS:
        if chance < limit:
            return kind(maker)
    raise AssertionError("the last limit is 1")


def _block(maker: _Maker, depth: int) -> Block:
    maker.depth += 1
    try:
        return _any_block(maker, depth)
    finally:
        maker.depth -= 1


def _any_block(maker: _Maker, depth: int) -> Block:
    kind = maker.random.randrange(3)
    count = maker.random.randrange(1, 4)
    before = dict(maker.shapes)
    if kind == 0:
        recording, maker.recording = maker.recording, False
        body = tuple(_statement(maker, depth + 1) for _ in range(count))
        maker.recording = recording
        return Block("with torch.no_grad():", body)
    if kind == 1:
        # The first and the last line of a loop's body call torch whatever happens, so that one round can be told from
        # the next by the order of the calls.
        inside = (_create(maker), *(_statement(maker, depth + 1) for _ in range(count)), _create(maker))
        maker.shapes = {name: shape for name, shape in maker.shapes.items() if before.get(name, shape) == shape}
        return Block(f"for i in range({maker.random.randrange(2, 4)}):", inside)
    body = tuple(_statement(maker, depth + 1) for _ in range(count))
    handler = (_create(maker),)
    maker.shapes = {name: shape for name, shape in before.items() if maker.shapes.get(name) == shape}
    return Block("try:", body, handler)


def _create(maker: _Maker) -> Line:
    shape = maker.random.choice([(2, 3), (2, 3), (3, 2), (6,), (3,), (2, 2)])
    text = maker.random.choice(
        (
            "torch.randn{s}",
            "torch.ones{s}",
            "torch.rand{s}.add(0.5)",
            "torch.randn({s}, requires_grad=True)",
            "torch.rand{s}.add(0.5).requires_grad_()",
            "torch.full({s}, 0.5, requires_grad=True)",
            "nn.Parameter(torch.ones{s})",
        )
    )
    name = maker.fresh(shape, autograd="leaf" if "requires_grad" in text or "nn." in text else "plain")
    binds = () if text.startswith("nn.") else (name,)
    return Line(f"{name} = {text.format(s=shape)}", binds)


def _pure(maker: _Maker) -> Line:
    a = maker.pick()
    shape = maker.shapes[a]
    b, matrix, vector = maker.pick(shape), maker.pick((2, 3)), maker.pick((3,))
    choices = [
        *(f"torch.sigmoid({a})", f"{a}.tanh()", f"{a}.exp()", f"torch.relu({a})", f"F.relu({a})", f"{a} * 2"),
        *(f"-{a}", f"{a}.clone()", f"{a} ** 2", f"torch.softmax({a}, 0)", f"F.dropout({a}, 0.5)", f"{a}.cumsum(0)"),
        *(f"{a} + {b}", f"{a} * {b}", f"torch.maximum({a}, {b})", f"{a} / ({b} + 3)", f"squashed({a})"),
        *(f"torch.where({a} > 0, {a}, {b})", f"F.layer_norm({a}, {a}.shape)", f"F.softplus({a})", f"{a}.cos()"),
    ]
    text = maker.random.choice(choices)
    if matrix and vector and maker.random.random() < 0.1:
        text, shape = f"{matrix} @ {vector}", (2,)
    parents = (a, b, matrix, vector) if "@" in text else (a, b) if b in text else (a,)
    name = maker.bind(a, shape, *parents) if maker.random.random() < 0.25 else maker.fresh(shape, *parents)
    return Line(f"{name} = {text}", (name,))


def _view(maker: _Maker) -> Line:
    a = maker.pick(dims=1)
    if not a:
        return _create(maker)
    shape = maker.shapes[a]
    count = 1
    for size in shape:
        count *= size
    choices: list[tuple[str, Shape]] = [
        (f"{a}[0]", shape[1:]),
        (f"{a}[-1:]", (1, *shape[1:])),
        (f"{a}.detach()", shape),
        (f"{a}.data", shape),
        (f"{a}.unsqueeze(0)", (1, *shape)),
        (f"{a}.reshape({count})", (count,)),
        (f"torch.flatten({a})", (count,)),
        (f"{a}.view_as({a})", shape),
        (f"{a}.narrow(0, 0, 1)", (1, *shape[1:])),
        (f"{a}.expand(2, *{a}.shape)", (2, *shape)),
        (f"{a}[...]", shape),
    ]
    if len(shape) > 1:
        choices += [(f"{a}.transpose(0, 1)", (shape[1], shape[0], *shape[2:])), (f"{a}[:, 1:]", ())][
            : 1 + (shape[1] > 1)
        ]
    text, result = maker.random.choice(choices)
    if text.endswith("[:, 1:]"):
        result = (shape[0], shape[1] - 1, *shape[2:])
    if shape[0] == 2 and maker.random.random() < 0.12:
        left, right = maker.fresh((1, *shape[1:]), a), maker.fresh((1, *shape[1:]), a)
        return Line(f"{left}, {right} = {a}.chunk(2)", (left, right))
    cut = text.endswith((".detach()", ".data"))
    name = maker.fresh(result, a, autograd="plain" if cut else "leaf" if maker.autograd[a] == "leaf" else "")
    return Line(f"{name} = {text}", (name,))


def _write(maker: _Maker) -> Line:
    a = maker.target()
    shape = maker.shapes[a]
    b, c = maker.pick(shape), maker.pick(shape)
    choices = [
        *(f"{a}.add_(1)", f"{a}.mul_({b})", f"{a}.zero_()", f"{a}.fill_(0.5)", f"{a} += 1", f"{a} *= {b}"),
        *(f"{a}.clamp_(min=0)", f"torch.relu_({a})", f"F.relu({a}, inplace=True)", f"{a}.copy_({b})"),
        *(f"{a}.sigmoid_()", f"{a}.normal_()", f"{a}.add_({b}, alpha=0.1)", f"{a}.addcmul_({b}, {c})"),
        *(f"{a}.masked_fill_({a} > 0, 0.0)", f"nn.init.uniform_({a})", f"F.dropout({a}, 0.5, inplace=True)"),
        *(f"torch.mul({b}, 2, out={a})", f"torch._foreach_add_([{a}, {b}], 1)", f"{a}.sub_({b}.detach())"),
        *(f"{a}.unsqueeze_(0).squeeze_(0)", f"{a}.detach().numpy().fill(0.5)", f"{a}.data = {b}.detach()"),
        *(f"{a}.lerp_({b}, 0.5)", f"{a}.requires_grad_()", f"{a}.detach_()", f"{a}.data.mul_(0.5)"),
        *(text.format(a) for text in IN_PLACE_HELPERS),
    ]
    text = maker.random.choice(choices)
    maker.bind(a, shape, a, b)
    statement = " " in text.split("(")[0] or text.startswith("torch._foreach") or ".numpy()" in text
    if statement or maker.random.random() < 0.75:
        return Line(text)
    if text.startswith("shifted"):
        return Line(f"flat = {text}")
    helped = text.startswith(("nn.", *(helper.split("(")[0] for helper in IN_PLACE_HELPERS)))
    name = maker.fresh(shape, a)
    return Line(f"{name} = {text}", () if helped else (name,))


def _index_write(maker: _Maker) -> Line:
    a = maker.target(dims=1)
    if not a:
        return _write(maker)
    shape = maker.shapes[a]
    b = maker.pick(shape)
    choices = [
        *(f"{a}[0] = 1.0", f"{a}[-1] = {b}[0]", f"{a}[:1] *= 2", f"{a}[{a} > 0] = 0.5", f"{a}[...] = {b}"),
        *(f"{a}[1:] += 1", f"{a}[[0]] = 2.0", f"{a}[0].add_(1)", f"{a}[0] = {a}[-1] * 2"),
    ]
    if len(shape) > 1:
        choices += [f"{a}[:, 0] = 0", f"{a}.t()[0] += 1" if len(shape) == 2 else f"{a}[0, 0] = 3"]
    return Line(maker.random.choice(choices))


def _names(maker: _Maker) -> Line:
    a, b = maker.pick(), maker.pick()
    chance = maker.random.random()
    if chance < 0.4:
        return Line(f"{maker.fresh(maker.shapes[a], autograd=maker.autograd[a])} = {a}")
    if chance < 0.6:
        maker.shapes[a], maker.shapes[b] = maker.shapes[b], maker.shapes[a]
        maker.autograd[a], maker.autograd[b] = maker.autograd[b], maker.autograd[a]
        return Line(f"{a}, {b} = {b}, {a}")
    if chance < 0.75 and len(maker.shapes) > 3 and not maker.depth:
        del maker.shapes[a]
        return Line(f"del {a}")
    return Line(
        maker.random.choice(
            (
                f"held = [{a}, {b}]",
                f"held = [t * 2 for t in ({a}, {b})]",
                f"held = [t.mul_(0.5) for t in ({a}, {b})]",
                f"held = [{a}, {b}]; held[0] += 1",
                f"held = (lambda t: t.add_(1))({a})",
            )
        )
    )


def _backward(maker: _Maker) -> Line:
    if not maker.shapes:
        return _create(maker)
    a, b = maker.pick(kinds=("tracked",)), maker.pick(kinds=("leaf", "tracked"))
    if maker.autograd[a] == "plain" and maker.random.random() < 0.9:
        return _pure(maker)
    return maker.random.choice(
        (
            Line(f"{a}.sum().backward()", backward=True),
            Line(f"({a} * {a}).sum().backward()", backward=True),
            Line(f"{a}.sum().backward(retain_graph=True)", backward=True),
            Line(f"torch.autograd.backward([{a}.sum(), {b}.sum()])", backward=True),
            Line(f"{a}.sum().backward(retain_graph=True)", backward=True),
            Line(f"grads = torch.autograd.grad({a}.sum(), [{b}], allow_unused=True)", backward=True),
            Line(f"({a}.sum() + {b}.mean()).backward()", backward=True),
            Line(f"({a} ** 2).sum().backward(create_graph=True)", backward=True),
            Line(f"{a}.grad = None"),
            Line(f"{b}.grad.zero_()"),
            Line(f"{b}.data -= 0.1 * {b}.grad"),
        )
    )


_KINDS: tuple[tuple[float, Callable[[_Maker], Line]], ...] = (
    (0.20, _create),
    (0.42, _pure),
    (0.60, _view),
    (0.76, _write),
    (0.86, _index_write),
    (0.92, _names),
    (1.01, _backward),
)
"""With the chance below which each is taken; chances under 0.14 go to blocks first."""
