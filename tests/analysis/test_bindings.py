"""What the user's code calls a tensor, at the line where it matters."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from builders import made, tensor, wrote

from inplace_magic.analysis.story import Story
from inplace_magic.record.events import CallEvent
from inplace_magic.record.names import TensorName
from inplace_magic.record.places import Callsite
from inplace_magic.record.trace import Trace


def at(text: str, **more: Any) -> Callsite:
    """A place whose statement and expression are both `text`."""
    return replace(Callsite(4, text, cell=7, statement=text, expression=text), **more)


def name_of(call: CallEvent, *before: CallEvent, names: tuple[TensorName, ...] = (), tensor: int = 1) -> str | None:
    return Story(Trace(calls=(*before, call), names=names)).bindings.written_name(call, tensor)


@pytest.mark.parametrize(
    ("call", "text", "name"),
    [
        ("mul_", "active.mul_(2)", "active"),
        ("__setitem__", "active[mask] = 0", "active"),
        ("mul_", "active.data.mul_(2)", "active"),
        ("__iadd__", "active += other", "active"),
        ("copy_", "self.state.copy_(x)", "self.state"),
        ("relu_", "maps[1].relu_()", "maps[1]"),
    ],
)
def test_the_name_at_the_writing_line_wins_over_the_namespace(call: str, text: str, name: str) -> None:
    expression = text.removesuffix(" = 0")
    writing = wrote(0, f"Tensor.{call}", at(text, expression=expression), tensor(1))
    assert name_of(writing, names=(TensorName(1, "gate"),)) == name


def test_a_line_that_calls_another_method_does_not_name_the_tensor() -> None:
    writing = wrote(0, "Tensor.mul_", at('getattr(active, "mul_")(scale)'), tensor(1))
    assert name_of(writing, names=(TensorName(1, "gate"),)) == "gate"


def test_the_output_argument_is_what_is_written() -> None:
    call = wrote(0, "torch.mul", at("torch.mul(a, b, out=buffer)"), tensor(1), tensor(2))
    assert name_of(call) == "buffer"


def test_in_a_helper_the_callers_name_says_more_than_the_parameter() -> None:
    outer = at("error_rate(scores, y)")
    where = at("target.sub_(1)", function="error_rate", parameters=("guess", "target"), caller=outer)
    assert name_of(wrote(0, "Tensor.sub_", where, tensor(1))) == "y"


def test_a_name_of_the_namespace_says_more_than_a_parameter() -> None:
    outer = at("step(p)", function="train", parameters=("p",))
    where = at("t.sub_(1)", function="step", parameters=("t",), caller=outer)
    assert name_of(wrote(0, "Tensor.sub_", where, tensor(1)), names=(TensorName(1, "net.weight"),)) == "net.weight"


def test_a_parameter_that_the_helper_bound_anew_keeps_the_helpers_name() -> None:
    outer = at("clean(batch)")
    bound = made(
        0,
        "Tensor.clone",
        at("x = x.clone()", function="clean", parameters=("x",), caller=outer, expression="x.clone()"),
        (tensor(9),),
        (tensor(1),),
    )
    call = wrote(1, "Tensor.mul_", at("x.mul_(2)", function="clean", parameters=("x",), caller=outer), tensor(1))
    assert name_of(call, bound) == "x"


def test_self_is_no_parameter_to_be_looked_up_outside() -> None:
    where = at("self.h.mul_(2)", function="Cell.forward", parameters=("self", "x"), caller=at("cell(x)"))
    assert name_of(wrote(0, "Tensor.mul_", where, tensor(1))) == "self.h"


def test_a_write_by_library_code_is_named_by_the_namespace() -> None:
    call = wrote(0, "torch._foreach_add_", at("opt.step()", direct=False), tensor(1))
    assert name_of(call, names=(TensorName(1, "net[2].weight"),)) == "net[2].weight"


def test_a_write_by_a_module_is_not_named_by_an_argument_that_is_another_tensor() -> None:
    call = wrote(0, "F.relu", at("net(x)", direct=False), tensor(1))
    assert name_of(call, names=(TensorName(5, "x"),)) is None


def test_a_view_taken_of_a_tensor_is_named_by_the_tensor_and_an_item_of_a_list_by_its_slot() -> None:
    taken = made(0, "Tensor.__getitem__", at("x[0]"), (tensor(2),), (tensor(1, storage=2, counter=2, is_view=True),))
    assert name_of(wrote(1, "Tensor.mul_", at("x[0].mul_(2)"), tensor(1)), taken) == "x"
    assert name_of(wrote(1, "Tensor.mul_", at("maps[0].mul_(2)"), tensor(1)), taken) == "maps[0]"


def test_without_a_place_or_a_name_there_is_none() -> None:
    assert name_of(wrote(0, "Tensor.mul_", None, tensor(1))) is None
    assert name_of(wrote(0, "Tensor.mul_", at("f(x).mul_(2)"), tensor(1))) is None


def test_a_tensor_without_a_name_is_named_by_another_on_its_memory() -> None:
    view = made(0, "Tensor.view", at("y = x.view(-1)"), (tensor(2),), (tensor(1, storage=2),))
    call = wrote(1, "Tensor.mul_", at("hooked()", direct=False), tensor(1, storage=2))
    assert name_of(call, view, names=(TensorName(2, "x"),)) == "x"


def test_unpacking_gives_each_tensor_its_name() -> None:
    where = at("mean, std = encode(x)", expression="encode(x)")
    trace = Trace(calls=(made(0, "torch.std_mean", where, (tensor(1),), (tensor(2), tensor(3))),))
    bindings = Story(trace).bindings
    assert (bindings.name(2), bindings.name(3), bindings.name(1)) == ("mean", "std", None)


def test_of_the_calls_that_one_expression_made_the_last_gives_what_the_name_gets() -> None:
    where = at("y = net(x)", expression="net(x)", direct=False)
    calls = (
        made(0, "F.linear", where, (tensor(1),), (tensor(2),)),
        made(1, "F.relu", where, (tensor(2),), (tensor(3),)),
    )
    assert Story(Trace(calls=calls)).best_names == {3: "y"}


def test_calls_inside_a_backward_bind_no_name_of_the_line() -> None:
    inner = made(1, "Tensor.mul", at("y = f(x)", expression="f(x)"), (tensor(1),), (tensor(2),), parent=0)
    assert Story(Trace(calls=(inner,))).best_names == {}


def test_the_last_assignment_names_a_tensor_and_the_namespace_names_it_better() -> None:
    first = made(0, "f", at("a = f(x)", expression="f(x)"), (tensor(9),), (tensor(1),))
    again = made(1, "g", at("b = g(a)", expression="g(a)"), (tensor(1),), (tensor(1),))
    assert Story(Trace(calls=(first, again))).best_names == {1: "b"}
    assert Story(Trace(calls=(first, again), names=(TensorName(1, "model.bias"),))).best_names == {1: "model.bias"}


def test_the_first_name_that_the_namespace_gives_is_the_best() -> None:
    names = (TensorName(1, "x"), TensorName(1, "holder.x"))
    bindings = Story(Trace(names=names)).bindings
    assert bindings.name(1) == "x"
    assert bindings.owners == {"x": 1, "holder.x": 1}
