"""Names that come to point to another tensor."""

from __future__ import annotations

from dataclasses import replace

from builders import site, tensor, with_targets

from inplace_magic.analysis.naming.known import Rebinding
from inplace_magic.analysis.story import Story
from inplace_magic.record.events import CallEvent
from inplace_magic.record.names import TensorName
from inplace_magic.record.trace import Trace

CELL = ("x = torch.ones(3)", "x = conv(x)", "x = torch.relu(x)", "y = x * 2", "x += 1")


def step(index: int, line: int, given: int | None, made: int) -> CallEvent:
    inputs = () if given is None else (tensor(given),)
    return CallEvent(index, "f", "ordinary", site(line, CELL), inputs, (tensor(made),))


def test_a_name_that_gets_another_tensor_is_a_rebinding():
    calls = (step(0, 1, None, 1), step(1, 2, 1, 2), step(2, 3, 2, 3), step(3, 4, 3, 4))

    assert Story(Trace(calls=calls)).rebindings == (Rebinding(1, "x", 1, 2), Rebinding(2, "x", 2, 3))


def test_a_name_from_before_the_watch_is_told_by_its_use_in_the_line():
    trace = Trace(calls=(step(0, 2, 1, 2),), names=(TensorName(2, "x"),))

    assert Story(trace).rebindings == (Rebinding(0, "x", 1, 2),)


def test_the_first_binding_of_a_new_name_is_none():
    assert Story(Trace(calls=(step(0, 4, 1, 2),))).rebindings == ()


def test_a_write_through_a_name_is_none():
    x = tensor(1)
    calls = (step(0, 1, None, 1), CallEvent(1, "Tensor.add_", "in-place", site(5, CELL), (x,), (x,)))

    assert Story(Trace(calls=calls)).rebindings == ()


def test_two_candidates_are_no_answer():
    calls = (CallEvent(0, "f", "ordinary", site(2, CELL), (tensor(1), tensor(2)), (tensor(3),)),)

    assert Story(Trace(calls=calls)).rebindings == ()


def step_of_descent(name: str, given: tuple[int, ...], expression: str) -> CallEvent:
    place = with_targets(replace(site(1, ("p = p - 0.1 * g",)), expression=expression))
    return CallEvent(given[-1] - 2, name, "ordinary", place, tuple(map(tensor, given)), (tensor(given[-1] + 1),))


def test_an_operand_tells_what_the_name_was_and_a_temporary_of_the_line_does_not():
    product = step_of_descent("Tensor.mul", (2,), "0.1 * g")
    difference = step_of_descent("Tensor.sub", (1, 3), "p - 0.1 * g")
    names = (TensorName(1, "model.weight"), TensorName(4, "p"))

    assert Story(Trace(calls=(product, difference), names=names)).rebindings == (Rebinding(1, "p", 1, 4),)


def test_operands_that_do_not_pair_up_with_tensors_are_no_answer():
    number_times_tensor = step_of_descent("Tensor.sub", (3,), "p - 0.1 * g")  # `p` was a number

    assert Story(Trace(calls=(replace(number_times_tensor, index=0),))).rebindings == ()


def in_function(call: CallEvent, caller_line: int) -> CallEvent:
    assert call.callsite is not None
    return replace(call, callsite=replace(call.callsite, function="forward", caller=site(caller_line, CELL)))


def test_another_run_of_a_function_has_names_of_its_own():
    two_runs = (step(0, 2, 1, 2), step(1, 3, 2, 3), step(2, 2, 3, 4), step(3, 3, 4, 5))
    from_one_line = tuple(in_function(call, 1) for call in two_runs)
    from_two_lines = tuple(in_function(call, 1 + call.index // 2) for call in two_runs)
    named = (TensorName(1, "a"), TensorName(3, "b"))

    within = (Rebinding(0, "x", 1, 2), Rebinding(1, "x", 2, 3), Rebinding(3, "x", 4, 5))
    assert Story(Trace(calls=from_two_lines, names=named)).rebindings == within
    assert Story(Trace(calls=from_one_line[:2] + from_two_lines[2:], names=named)).rebindings == within


def test_a_function_that_reads_its_own_result_again_is_one_run():
    loop = tuple(in_function(step(index, 2, index, index + 1), 1) for index in range(1, 4))

    assert Story(Trace(calls=loop)).rebindings[1:] == (Rebinding(2, "x", 2, 3), Rebinding(3, "x", 3, 4))
