"""The picture's data, on rows."""

from __future__ import annotations

from dataclasses import replace

from builders import sigmoid_trace, site, tensor

from inplace_magic.analysis.graph import HUB, AutogradGraph
from inplace_magic.analysis.story import Story
from inplace_magic.record.autograd import AutogradNode, SavedTensor
from inplace_magic.record.events import CallEvent, Mutation
from inplace_magic.record.memory import Storage
from inplace_magic.record.names import TensorName
from inplace_magic.record.trace import Trace

ROW_CELL = ("x = torch.zeros(2, 3)", "row = x[0]", "row.add_(1)", "y = x * 2")


def arrows(graph: AutogradGraph, kind: str) -> list[tuple[str, str]]:
    return [(edge.source, edge.target) for edge in graph.edges if edge.kind == kind]


def view_trace() -> Trace:
    """A row of a matrix is written; afterwards the matrix is used, and nobody touched it by its own name."""
    x = tensor(1, shape=(2, 3))
    row = tensor(2, shape=(3,), storage=1, counter=1, is_view=True)
    return Trace(
        calls=(
            CallEvent(0, "torch.zeros", "ordinary", site(1, ROW_CELL), outputs=(x,)),
            CallEvent(1, "Tensor.__getitem__", "view", site(2, ROW_CELL), (x,), (row,)),
            CallEvent(
                2,
                "Tensor.add_",
                "in-place",
                site(3, ROW_CELL),
                (row,),
                (replace(row, version=1),),
                (Mutation(2, 0, 1, 1, 1),),
                mutated=(replace(row, version=1),),
            ),
            CallEvent(3, "Tensor.mul", "ordinary", site(4, ROW_CELL), (replace(x, version=1),), (tensor(3),)),
        )
    )


def test_each_version_of_a_written_tensor_is_a_vertex_of_its_own():
    graph = AutogradGraph.of(Story(sigmoid_trace()))

    versions = [(v.key, v.origin, v.made_by, v.mutated) for v in graph.tensors if v.tensor == 4]

    assert versions == [("T4@v0", "created", 3, False), ("T4@v1", "mutated", 4, True)]


def test_data_flows_through_the_write_from_the_old_version_to_the_new_one():
    data = arrows(AutogradGraph.of(Story(sigmoid_trace())), "data")

    assert data[-6:] == [
        ("C3", "T4@v0"),
        ("T4@v0", "C4"),
        ("C4", "T4@v1"),
        ("T4@v1", "C5"),
        ("C5", "T5@v0"),
        ("T5@v0", "C6"),
    ]


def test_what_is_kept_for_backward_points_at_the_version_that_was_saved():
    graph = AutogradGraph.of(Story(sigmoid_trace()))

    saved = [(edge.source, edge.target, edge.name) for edge in graph.edges if edge.kind == "saved"]

    assert saved == [("T1@v0", "C2", "MvBackward0.self"), ("T4@v0", "C3", "SigmoidBackward0.result")]


def test_a_saved_output_without_a_python_object_is_found_by_its_version_counter_and_layout():
    trace = sigmoid_trace()
    trace = replace(trace, saved=tuple(replace(saved, tensor=None) for saved in trace.saved))

    assert ("T4@v0", "C3") in arrows(AutogradGraph.of(Story(trace)), "saved")


def test_a_saved_tensor_that_nothing_in_sight_stands_for_is_counted_and_not_guessed():
    trace = sigmoid_trace()
    hooked = SavedTensor(3, "self", hooked=True)

    graph = AutogradGraph.of(Story(replace(trace, saved=(*trace.saved, hooked))))

    assert graph.unplaced == 1
    assert len(arrows(graph, "saved")) == 2


def test_calls_carry_the_names_that_pytorch_gives_their_autograd_nodes():
    graph = AutogradGraph.of(Story(sigmoid_trace()))

    assert [call.nodes for call in graph.calls if call.call == 3] == [("SigmoidBackward0",)]


def test_queries_are_left_out_unless_they_raised():
    trace = sigmoid_trace()
    trace = replace(trace, calls=(*trace.calls, CallEvent(7, "Tensor.item", "query", site(7), (tensor(5),))))

    graph = AutogradGraph.of(Story(trace))

    assert "C7" not in [call.key for call in graph.calls]
    assert [call.error for call in graph.calls if call.key == "C6"] == [trace.calls[6].error]


def test_tensors_bear_the_names_of_the_code():
    trace = replace(sigmoid_trace(), names=(TensorName(4, "model.probs"),))

    names = {vertex.tensor: vertex.name for vertex in AutogradGraph.of(Story(trace)).tensors}

    assert names[4] == "model.probs"
    assert names[5] == "loss"


def test_a_view_is_joined_to_its_base():
    assert ("T1@v0", "T2@v0") in arrows(AutogradGraph.of(Story(view_trace())), "view")


def test_a_base_that_was_written_through_its_view_appears_in_its_new_version():
    graph = AutogradGraph.of(Story(view_trace()))

    base = next(vertex for vertex in graph.tensors if vertex.key == "T1@v1")

    assert (base.origin, base.made_by, base.version_before) == ("shared", 2, 0)
    assert ("T2@v1", "T1@v1") in arrows(graph, "view")
    assert ("T1@v1", "C3") in arrows(graph, "data")


def test_a_version_that_moved_unseen_says_so():
    x = tensor(1)
    calls = (
        CallEvent(0, "torch.relu", "ordinary", site(2), (x,), (tensor(2),)),
        CallEvent(1, "torch.relu", "ordinary", site(3), (replace(x, version=3),), (tensor(3),)),
    )

    later = AutogradGraph.of(Story(Trace(calls=calls))).tensors[2]

    assert (later.key, later.origin, later.version_before, later.made_by) == ("T1@v3", "unseen", 0, None)


def test_a_write_that_pytorch_does_not_count_makes_a_vertex_and_no_loop():
    mean = tensor(1)
    write = (Mutation(1, 0, 0, 1, 1),)
    calls = tuple(CallEvent(i, "F.batch_norm", "in-place", site(2), (mean,), (), write) for i in range(2))

    graph = AutogradGraph.of(Story(Trace(calls=calls)))

    assert [vertex.key for vertex in graph.tensors] == ["T1@v0", "T1@v0+1", "T1@v0+2"]
    assert arrows(graph, "data") == [("T1@v0", "C0"), ("C0", "T1@v0+1"), ("T1@v0+1", "C1"), ("C1", "T1@v0+2")]


def test_an_output_that_is_the_input_itself_makes_no_second_vertex():
    x = tensor(1)
    calls = (CallEvent(0, "Tensor.contiguous", "ordinary", site(2), (x,), (x,)),)

    graph = AutogradGraph.of(Story(Trace(calls=calls)))

    assert [vertex.key for vertex in graph.tensors] == ["T1@v0"]
    assert arrows(graph, "data") == [("T1@v0", "C0")]


def test_an_unknown_version_is_shown_as_unknown():
    calls = (CallEvent(0, "torch.relu", "ordinary", site(2), (tensor(1, version=None),), (tensor(2),)),)

    assert AutogradGraph.of(Story(Trace(calls=calls))).tensors[0].key == "T1@v?"


def test_the_neighbourhood_holds_the_nearest_vertices_and_only_arrows_between_them():
    graph = AutogradGraph.of(Story(sigmoid_trace()))

    part = graph.around(["C4"], 3)

    assert {vertex.key for vertex in part.tensors} == {"T4@v0", "T4@v1"}
    assert [call.key for call in part.calls] == ["C4"]
    assert arrows(part, "data") == [("T4@v0", "C4"), ("C4", "T4@v1")]


def test_the_neighbourhood_does_not_spread_through_a_parameter_that_every_step_reads():
    weight = tensor(1)
    calls = tuple(
        CallEvent(i, "F.linear", "ordinary", site(2), (tensor(100 + i), weight), (tensor(200 + i),))
        for i in range(HUB + 5)
    )

    part = AutogradGraph.of(Story(Trace(calls=calls))).around(["C0"], 20)

    assert [call.key for call in part.calls] == ["C0"]


def test_the_same_trace_gives_the_same_graph():
    assert AutogradGraph.of(Story(sigmoid_trace())) == AutogradGraph.of(Story(sigmoid_trace()))


def test_a_node_made_before_the_watch_keeps_nothing_that_could_be_drawn():
    trace = replace(sigmoid_trace(), nodes=(AutogradNode(3, "SigmoidBackward0"),))

    graph = AutogradGraph.of(Story(trace))

    assert arrows(graph, "saved") == []
    assert graph.unplaced == 2


def test_a_gradient_was_made_inside_backward_and_not_before_the_watch():
    weight, gradient = tensor(1), tensor(2)
    calls = (
        CallEvent(0, "Tensor.backward", "query", site(1, ROW_CELL), (weight,)),
        CallEvent(1, "Tensor.mul_", "in-place", site(2, ROW_CELL), (gradient,), (gradient,)),
    )
    trace = Trace(calls=calls, storages=(Storage(2, 8, "cpu", born=0),))

    found = {vertex.key: (vertex.origin, vertex.made_by) for vertex in AutogradGraph.of(Story(trace)).tensors}
    assert found["T2@v0"] == ("inside", 0)
