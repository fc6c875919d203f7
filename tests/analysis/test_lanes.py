"""What happened to which storage, and what of it is shown."""

from __future__ import annotations

from dataclasses import replace

from builders import made, sigmoid_trace, site, tensor, wrote

from inplace_magic.analysis.graph import AutogradGraph
from inplace_magic.analysis.lanes import Lane, lanes_of
from inplace_magic.analysis.story import Story
from inplace_magic.analysis.timeline import Focus, timeline_of
from inplace_magic.record.autograd import AutogradNode, Backward, SavedTensor
from inplace_magic.record.events import CallEvent, ForeignWrite, UnseenWrite
from inplace_magic.record.memory import Storage
from inplace_magic.record.trace import Trace

CELL = ("%%inplace_watch", "x = torch.ones(8)", "v = x[:4]", "y = torch.exp(x)", "x = x * 2", "y.sum().backward()")


def lanes(trace: Trace) -> dict[str, Lane]:
    story = Story(trace)
    found = lanes_of(story, AutogradGraph.of(story))
    return {lane.key: lane for lane in found}


def told(lane: Lane) -> list[tuple[int, str]]:
    return [(mark.call, mark.kind) for mark in lane.marks]


def training_step(**backward: object) -> Trace:
    """``y = exp(x)`` keeps ``y``; the backward at call 2 goes through it."""
    x, y = tensor(1, requires_grad=True), tensor(2, requires_grad=True, is_leaf=False, node=1)
    return Trace(
        calls=(
            made(0, "torch.ones", site(2, CELL), (), (x,)),
            made(1, "torch.exp", site(4, CELL), (x,), (y,)),
            CallEvent(2, "Tensor.backward", "query", site(6, CELL), (y,)),
            wrote(3, "Tensor.add_", site(4, CELL), y),
        ),
        nodes=(AutogradNode(1, "ExpBackward0", 0, (), call=1),),
        saved=(SavedTensor(1, "result", 2, 2, 0, 2, (8,), (1,), 0),),
        storages=(Storage(1, 32, "cpu", born=0), Storage(2, 32, "cpu", born=1)),
        backwards=(Backward(2, (1,), **backward),),  # type: ignore[arg-type]
        cell=7,
    )


def test_a_lane_tells_making_writing_and_who_kept_it_until_when():
    probs = lanes(sigmoid_trace())["S4"]

    assert told(probs) == [(3, "created"), (4, "mutated")]
    assert [(mark.before, mark.after, mark.key) for mark in probs.marks] == [(None, 0, "T4@v0"), (0, 1, "T4@v1")]
    (keeping,) = probs.kept
    assert (keeping.call, keeping.node, keeping.version, keeping.key) == (3, "SigmoidBackward0", 0, "T4@v0")
    assert (keeping.until, keeping.end) == (None, "unknown"), "the trace tells nothing of it"
    assert [name.name for name in probs.names] == ["probs"]


def test_a_backward_frees_what_was_kept_unless_it_retains_the_graph():
    (freed,) = lanes(training_step())["S2"].kept
    (retained,) = lanes(training_step(retain_graph=True))["S2"].kept

    assert (freed.reads, freed.until, freed.end) == ((2,), 2, "freed")
    assert (retained.reads, retained.until, retained.end) == ((2,), None, "unknown")


def test_how_far_a_failed_backward_came_is_unknown():
    trace = training_step()
    failed = replace(trace, calls=(*trace.calls[:2], replace(trace.calls[2], error="RuntimeError: no")))

    (keeping,) = lanes(failed)["S2"].kept

    assert (keeping.reads, keeping.until, keeping.end) == ((), 2, "unknown")


def test_what_a_live_graph_still_needs_is_kept_to_the_end():
    trace = training_step(retain_graph=True)
    pending = replace(trace, nodes=(replace(trace.nodes[0], pending=True),))

    (kept,) = lanes(pending)["S2"].kept

    assert (kept.until, kept.end) == (None, "kept")


def test_views_share_the_lane_of_their_base():
    base, view = tensor(1), tensor(2, shape=(4,), storage=1, counter=1)
    trace = Trace(calls=(made(0, "f", site(2, CELL), (), (base,)), made(1, "g", site(3, CELL), (base,), (view,))))

    assert {key: told(lane) for key, lane in lanes(trace).items()} == {"S1": [(0, "created"), (1, "viewed")]}


def test_a_name_that_goes_to_another_tensor_leaves_its_lane():
    one, two = tensor(1), tensor(2)
    calls = (made(0, "f", site(2, CELL), (), (one,)), made(1, "g", site(5, CELL), (one,), (two,)))

    found = lanes(Trace(calls=calls))

    assert [(mark.call, mark.name) for mark in found["S1"].marks if mark.kind == "rebound"] == [(1, "x")]
    (gone,) = found["S1"].names
    assert gone.until is not None
    assert (gone.name, gone.until.line) == ("x", 5)
    assert [(name.name, name.until) for name in found["S2"].names] == [("x", None)]


def test_a_tensor_whose_data_is_swapped_moves_to_the_other_memory():
    mine, other = tensor(1), tensor(2)
    swap = replace(made(2, "Tensor.data =", site(5, CELL), (mine, other)), kind="metadata")
    trace = Trace(
        calls=(
            made(0, "f", site(2, CELL), (), (mine,)),
            made(1, "g", site(3, CELL), (), (other,)),
            swap,
        )
    )

    found = lanes(trace)

    assert [mark.tensor for mark in found["S1"].marks if mark.kind == "moved"] == [1]
    assert 1 in found["S2"].tensors


def test_a_write_that_the_savers_counter_does_not_see_is_told_apart():
    trace = training_step()
    y = tensor(2, requires_grad=True, is_leaf=False, node=1)
    alias = replace(tensor(3), storage=2)
    through_data = replace(
        trace,
        calls=(*trace.calls[:2], wrote(2, "Tensor.zero_", site(5, CELL), alias)),
        backwards=(),
        nodes=(replace(trace.nodes[0], pending=True),),
    )
    fused = replace(
        trace, calls=(*trace.calls[:2], wrote(2, "Tensor.add_", site(5, CELL), y, counted=False)), backwards=()
    )

    assert told(lanes(through_data)["S2"]) == [(1, "created"), (2, "uncounted")]
    assert told(lanes(fused)["S2"]) == [(1, "created"), (2, "uncounted")]
    assert told(lanes(trace)["S2"])[-1] == (3, "mutated"), "nobody kept it any more"


def test_writes_that_no_call_made_stand_where_they_were_noticed():
    x = tensor(1)
    trace = Trace(
        calls=(made(0, "f", site(2, CELL), (), (x,)), made(1, "g", site(3, CELL), (x,), (tensor(2),))),
        unseen=(UnseenWrite(1, 0, 1, 1),),
        foreign=(ForeignWrite(1, 1),),
    )

    assert told(lanes(trace)["S1"]) == [(0, "created"), (1, "unseen"), (1, "unseen")]


def test_what_is_not_known_of_birth_and_death_is_none():
    lane = lanes(Trace(calls=(made(0, "g", site(3, CELL), (tensor(1),), (tensor(2),)),)))["S1"]

    assert (lane.first, lane.ended, lane.alive) == (None, None, False)


def loop(passes: int) -> Trace:
    """Each pass makes a new tensor and writes the same total."""
    total, calls = tensor(1), []
    for index in range(passes):
        calls.append(made(2 * index, "f", site(4, CELL), (), (tensor(index + 2),)))
        now = replace(total, version=index)
        calls.append(wrote(2 * index + 1, "Tensor.add_", site(5, CELL), now))
    return Trace(calls=tuple(calls), cell=7)


def test_of_a_long_loop_one_pass_is_shown_and_the_others_are_counted():
    trace = loop(500)

    shown = timeline_of(trace, tuple(lanes(trace).values()), ())

    assert [(column.first, column.gap, column.passes, column.calls) for column in shown.columns] == [
        (0, False, 0, 1),
        (1, False, 0, 1),
        (2, True, 499, 998),
    ]
    assert [lane.key for lane in shown.lanes] == ["S1", "S2"], "what was there before the watch comes first"
    assert (shown.lanes_left_out, shown.writes_left_out) == (499, 0)


def test_the_pass_that_a_finding_is_about_is_the_one_that_is_shown():
    trace = loop(500)

    shown = timeline_of(trace, tuple(lanes(trace).values()), (Focus("S1", 301, 300),))

    assert [column.first for column in shown.columns if not column.gap] == [300, 301]
    assert [column.passes for column in shown.columns if column.gap] == [150, 349]


def test_a_short_loop_is_shown_whole():
    shown = timeline_of(loop(5), tuple(lanes(loop(5)).values()), ())

    assert [column.first for column in shown.columns] == list(range(10))


def test_lanes_of_findings_come_first_then_named_ones_then_large_ones():
    calls = [made(index, "f", site(4, CELL, text="", statement="", expression="f()"), (), (tensor(index),))
             for index in range(1, 30)]  # fmt: skip
    storages = tuple(Storage(index, 100 * index, "cpu", born=index) for index in range(1, 30))
    calls[4] = made(5, "f", site(2, CELL), (), (tensor(5),))
    trace = Trace(calls=tuple(calls), storages=storages)

    shown = timeline_of(trace, tuple(lanes(trace).values()), (Focus("S2", 2),), most=5)

    assert {lane.key for lane in shown.lanes} == {"S2", "S5", "S29", "S28"}
    assert shown.lanes_left_out == 25


def test_every_call_is_in_a_column_or_between_what_is_shown_and_nothing_is_counted_twice():
    trace = loop(500)
    focus = tuple(Focus("S1", 2 * number + 1, 2 * number) for number in range(0, 500, 3))

    shown = timeline_of(trace, tuple(lanes(trace).values()), focus, columns=50)

    assert sum(not column.gap for column in shown.columns) <= 50
    assert sum(column.calls for column in shown.columns) == len(trace.calls)
    covered = [index for column in shown.columns for index in range(column.first, column.last + 1)]
    assert covered == list(range(1000))
