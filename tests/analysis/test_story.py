"""A trace, indexed: who saved, who wrote, what backward went through."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from builders import made, sigmoid_trace, site, tensor, wrote

from inplace_magic.analysis.story import Story
from inplace_magic.record.autograd import AutogradNode, Backward, SavedTensor
from inplace_magic.record.events import CallEvent, ForeignWrite, UnseenWrite
from inplace_magic.record.memory import Storage
from inplace_magic.record.names import TensorName
from inplace_magic.record.refusal import Refusal
from inplace_magic.record.trace import Trace

DIAMOND = (
    AutogradNode(1, "AccumulateGrad", variable=1),
    AutogradNode(2, "AccumulateGrad", variable=2),
    AutogradNode(3, "MulBackward0", 0, (1, 2)),
    AutogradNode(4, "SigmoidBackward0", 1, (3,)),
    AutogradNode(5, "AddBackward0", 2, (4, 3, None)),
)
"""Two leaves, a product, a sigmoid of it, and their sum."""


def diamond(*backwards: Backward, error: str | None = None, **more: Any) -> Story:
    calls = tuple(CallEvent(b.call, "Tensor.backward", "query", site(8), error=error) for b in backwards)
    return Story(replace(Trace(calls=calls, nodes=DIAMOND, backwards=backwards), **more))


def test_backward_reaches_everything_behind_its_roots() -> None:
    assert diamond().reached([5]) == {1, 2, 3, 4, 5}
    assert diamond().reached([4]) == {1, 2, 3, 4}
    assert diamond().reached([99]) == set()


def test_descendants_are_the_nodes_from_which_backward_comes_here() -> None:
    assert diamond().descendants({3}) == {3, 4, 5}
    assert diamond().descendants({5}) == {5}


def test_a_backward_that_raised_went_through_nothing() -> None:
    assert diamond(Backward(0, (5,))).went_through(0) == {1, 2, 3, 4, 5}
    assert diamond(Backward(0, (5,)), error="RuntimeError: no").went_through(0) == set()


def test_a_gradient_asked_for_some_inputs_runs_only_what_leads_to_them() -> None:
    nodes = (*DIAMOND[:3], AutogradNode(4, "SigmoidBackward0", 1, (2,)), AutogradNode(5, "AddBackward0", 2, (3, 4)))
    story = diamond(Backward(0, (5,), inputs=(1,)), nodes=nodes)
    assert story.went_through(0) == {1, 3, 5}


def test_writes_are_listed_by_counter_with_the_unseen_ones_in_their_order() -> None:
    x = tensor(1)
    trace = Trace(
        calls=(
            wrote(0, "Tensor.mul_", site(2), x),
            wrote(2, "Tensor.mul_", site(4), tensor(1, version=2)),
        ),
        unseen=(UnseenWrite(1, 1, 2, noticed=2, callsite=site(3)),),
    )
    writes = Story(trace).writes[1]
    assert [(w.before, w.after, w.at) for w in writes] == [(0, 1, 0), (1, 2, 2), (2, 3, 2)]
    assert [w.site for w in writes] == [site(2), site(3), site(4)]
    assert writes[1].call is None


def test_what_was_written_after_a_save_is_what_moved_its_version_further() -> None:
    trace = Trace(calls=(wrote(0, "Tensor.mul_", site(2), tensor(1)), wrote(1, "Tensor.mul_", site(3), tensor(1, 1))))
    saved = SavedTensor(1, "self", 1, 1, 1)
    assert [w.at for w in Story(trace).writes_after(saved, 0)] == [0, 1]
    assert [w.at for w in Story(trace).writes_after(saved, 1)] == [1]
    assert Story(trace).writes_after(saved, None) == []
    assert Story(trace).writes_after(replace(saved, counter=None), 0) == []


def test_versions_that_went_back_count_by_what_they_are_and_not_by_their_order() -> None:
    trace = Trace(calls=(wrote(0, "Tensor.mul_", site(2), tensor(1, 4)), wrote(1, "Tensor.mul_", site(3), tensor(1))))
    assert [w.at for w in Story(trace).writes_after(SavedTensor(1, "self", 1, 1, 1), 1)] == [0]


def test_writes_to_memory_hold_those_through_aliases_and_from_outside_torch() -> None:
    alias = tensor(2, storage=1, counter=2)
    trace = Trace(
        calls=(made(0, "torch.ones", site(2), (), (tensor(1),)), wrote(1, "Tensor.mul_", site(3), alias)),
        foreign=(ForeignWrite(1, 2, ("frame",), site(4)),),
        unseen=(UnseenWrite(1, 0, 1, noticed=3),),
    )
    assert [(w.at, w.site) for w in Story(trace).writes_to_memory(1)] == [(1, site(3)), (2, site(4)), (3, None)]
    assert Story(trace).writes_to_memory(None) == []


def test_only_in_place_calls_write_memory() -> None:
    reshaped = replace(wrote(0, "Tensor.t_", site(2), tensor(1)), kind="metadata")
    assert Story(Trace(calls=(reshaped,))).writes_to_storage == {}


def test_a_tensor_is_first_seen_at_the_first_call_that_met_it() -> None:
    story = Story(sigmoid_trace())
    assert (story.first_seen(1), story.first_seen(4), story.first_seen(99)) == (0, 3, 7)


def test_the_call_that_made_a_storage_is_known_unless_it_is_older_than_the_watch() -> None:
    story = Story(replace(sigmoid_trace(), storages=(Storage(1, 160, "cpu", born=0), Storage(9, 4, "cpu"))))
    maker = story.maker_of_storage(1)
    assert maker is not None
    assert maker.index == 0
    assert story.maker_of_storage(9) is None
    assert story.maker_of_storage(None) is None


def test_the_innermost_call_that_made_a_tensor_is_looked_for_backwards() -> None:
    calls = (
        made(0, "f", site(2), (), (tensor(1),)),
        made(1, "Tensor.clone", site(3), (), (tensor(2),)),
    )
    story = Story(Trace(calls=calls))
    found = story.innermost_new(2, 9)
    assert found is not None
    assert found.index == 1
    assert story.innermost_new(2, 1) is None
    assert story.innermost_new(7, 9) is None


def test_the_saver_of_a_node_is_the_call_that_made_it() -> None:
    story = Story(sigmoid_trace())
    call, place = story.saver_site(story.nodes[3])
    assert (call, place) == (story.calls[3], site(5))


def test_a_custom_function_is_placed_at_the_line_of_its_apply() -> None:
    apply = site(4, expression="Splat.apply(image)")
    inner = site(5, function="Splat.forward", caller=apply)
    call = made(0, "Tensor.mul", inner, (tensor(1),), (tensor(2),), sequence=8, grad_enabled=False)
    node = AutogradNode(1, "SplatBackward", sequence=7)
    assert Story(Trace(calls=(call,), nodes=(node,))).saver_site(node) == (call, apply)


def test_a_custom_function_without_a_call_of_torch_inside_has_no_known_place() -> None:
    later = made(0, "Tensor.mul", site(5), (tensor(1),), (tensor(2),), sequence=8)
    node = AutogradNode(1, "SplatBackward", sequence=7)
    assert Story(Trace(calls=(later,), nodes=(node,))).saver_site(node) == (None, None)
    leaf = AutogradNode(2, "AccumulateGrad")
    assert Story(Trace(nodes=(leaf,))).saver_site(leaf) == (None, None)


def test_an_error_that_passes_through_an_outer_call_counts_once() -> None:
    no = Refusal("saved tensor changed", expected=0, found=1)
    outer = CallEvent(0, "Tensor.backward", "query", site(8), error="RuntimeError: no", refusal=no)
    inner = CallEvent(1, "torch.mul", "query", site(5), error="RuntimeError: no", refusal=no, parent=0)
    story = Story(Trace(calls=(outer, inner), error="RuntimeError: no", refusal=no))
    assert list(story.refusals()) == [(inner, no)]


def test_the_blocks_own_error_counts_where_no_call_raised_it() -> None:
    no = Refusal("graph used up")
    assert list(Story(Trace(refusal=no)).refusals()) == [(None, no)]
    assert list(Story(Trace(error="ValueError: theirs")).refusals()) == []


def test_without_any_backward_one_is_still_meant() -> None:
    assert diamond().another_backward_is_meant(DIAMOND[3], 0, is_parameter=False)


def test_after_a_backward_that_left_a_node_out_none_is_meant_for_it() -> None:
    story = diamond(Backward(3, (3,)))
    assert not story.another_backward_is_meant(DIAMOND[3], 2, is_parameter=False)
    assert story.another_backward_is_meant(DIAMOND[3], 5, is_parameter=False)


def test_for_a_parameter_a_training_step_since_the_save_counts() -> None:
    story = diamond(Backward(3, (3,)))
    assert not story.another_backward_is_meant(replace(DIAMOND[3], call=2), 5, is_parameter=True)


def test_after_a_retained_graph_only_a_result_not_used_yet_is_meant() -> None:
    used = diamond(Backward(0, (5,)))
    assert not used.another_backward_is_meant(DIAMOND[2], 1, is_parameter=False)
    other = diamond(Backward(0, (4,)), nodes=(*DIAMOND[:4], replace(DIAMOND[4], call=0)))
    assert other.another_backward_is_meant(DIAMOND[2], 1, is_parameter=False)
    of_gradients = diamond(Backward(0, (4,)))  # a node that no call made: a backward made it, for ``.grad``
    assert not of_gradients.another_backward_is_meant(DIAMOND[2], 1, is_parameter=False)
    gone = tuple(replace(node, ended=1) if node.node == 5 else node for node in DIAMOND)
    assert not diamond(Backward(0, (4,)), nodes=gone).another_backward_is_meant(DIAMOND[2], 1, is_parameter=False)


def test_a_live_number_computed_by_way_of_a_node_is_seen() -> None:
    loss = tensor(9, shape=(), requires_grad=True, is_leaf=False, node=5)
    calls = (made(0, "Tensor.sum", site(7), (), (loss,)),)
    assert diamond(calls=calls).has_live_scalar(DIAMOND[2])
    vector = (made(0, "Tensor.mul", site(7), (), (replace(loss, shape=(3,)),)),)
    assert not diamond(calls=vector).has_live_scalar(DIAMOND[2])
    dead = tuple(replace(node, ended=1) if node.node == 5 else node for node in DIAMOND)
    assert not diamond(calls=calls, nodes=dead).has_live_scalar(DIAMOND[2])


def test_what_was_saved_is_called_by_its_own_name_or_by_one_on_the_same_counter() -> None:
    x, view = tensor(1), tensor(2, storage=1, counter=1)
    trace = Trace(calls=(made(0, "Tensor.view", site(2), (x,), (view,)),), names=(TensorName(2, "flat"),))
    assert Story(trace).name_of_saved(SavedTensor(1, "self", 1, 1, 0, tensor=2)) == "flat"
    assert Story(trace).name_of_saved(SavedTensor(1, "self", 1, 1, 0)) == "flat"
    assert Story(trace).name_of_saved(SavedTensor(1, "self", 3, 3, 0)) is None


def test_no_index_of_a_story_hides_another_one() -> None:
    own = [name for cls in Story.__mro__[:-1] for name in vars(cls) if not name.startswith("__")]
    assert {name for name in own if own.count(name) > 1} == set()
