"""Which parts of a graph become one box."""

from __future__ import annotations

from dataclasses import replace

from builders import made, site, tensor

from inplace_magic.analysis.folding import folded
from inplace_magic.analysis.graph import AutogradGraph
from inplace_magic.analysis.opening import groups_of
from inplace_magic.analysis.story import Story
from inplace_magic.analysis.tree.folds import FoldedGraph
from inplace_magic.record.autograd import AutogradNode
from inplace_magic.record.events import CallEvent
from inplace_magic.record.places import Callsite
from inplace_magic.record.trace import Trace

LINES = tuple(f"line {number}" for number in range(1, 100))


def chain(*lines: int) -> AutogradGraph:
    """Each call makes the next one's input; autograd tracks them all."""
    events: list[CallEvent] = []
    for i, line in enumerate(lines):
        events.append(made(i, "torch.exp", site(line, LINES), (tensor(i),), (tensor(i + 1, is_leaf=False, node=i),)))
    nodes = tuple(AutogradNode(i, "ExpBackward0", i, call=i) for i in range(len(lines)))
    return AutogradGraph.of(Story(Trace(calls=tuple(events), nodes=nodes)))


def training(steps: int) -> AutogradGraph:
    """A loop over lines 3 to 6 between lines 1 and 9."""
    return chain(1, *[3, 4, 5, 6] * steps, 9)


def inside(cut: FoldedGraph) -> list[int]:
    return sorted([call for fold in cut.folds for call in fold.calls] + [call.call for call in cut.graph.calls])


def test_a_long_loop_reads_as_one_pass_and_the_number_of_the_others():
    cut = folded(groups_of(training(500)))

    (rest,) = cut.folds
    assert (rest.passes, rest.more, len(rest.calls), rest.lines) == (499, True, 4 * 499, (3, 6))
    assert [call.site.line for call in cut.graph.calls if call.site] == [1, 3, 4, 5, 6, 9]
    assert [(frame.passes, frame.shown) for frame in cut.frames] == [(500, 1)]


def test_no_call_is_lost_and_none_is_drawn_twice():
    for keep in ((), ("C7", "C1000"), ("T77@v0",)):
        assert inside(folded(groups_of(training(500)), keep=keep)) == list(range(2002))


def test_what_must_be_kept_is_drawn_and_its_pass_is_open():
    cut = folded(groups_of(training(500)), keep=["C1002"])

    assert {"C1001", "C1002", "C1003", "C1004"} <= {call.key for call in cut.graph.calls}
    assert [(fold.passes, fold.more) for fold in cut.folds] == [(250, True), (249, True)]


def test_arrows_lead_to_the_boxes_that_stand_for_what_they_met():
    cut = folded(groups_of(training(500)))

    (rest,) = cut.folds
    keys = {vertex.key for vertex in cut.graph.tensors} | {call.key for call in cut.graph.calls} | {rest.key}
    assert {key for edge in cut.graph.edges for key in (edge.source, edge.target)} <= keys
    assert [edge.source for edge in cut.graph.edges if edge.target == rest.key] == ["T5@v0"]
    assert [edge.target for edge in cut.graph.edges if edge.source == rest.key] == ["C2001"]
    assert [result.key for result in rest.results] == ["T2001@v0"]


def test_a_box_whose_result_is_written_in_the_box_of_a_call_has_its_arrow_from_that_call():
    graph = training(50)
    written = "T201@v0"
    edges = tuple(
        edge._replace(source="C200") if edge.source == written else edge
        for edge in graph.edges
        if edge.target != written
    )
    tensors = tuple(vertex for vertex in graph.tensors if vertex.key != written)

    cut = folded(groups_of(replace(graph, tensors=tensors, edges=edges)))

    (rest,) = cut.folds
    assert rest.results == ()
    assert [edge.target for edge in cut.graph.edges if edge.source == rest.key] == ["C201"]


def test_a_box_opens_by_its_key_and_the_others_keep_theirs():
    (rest,) = folded(groups_of(training(500))).folds

    opened = folded(groups_of(training(500)), expanded=[rest.key])

    assert [call.site.line for call in opened.graph.calls if call.site] == [1, *[3, 4, 5, 6] * 2, 9]
    assert [(fold.passes, fold.more) for fold in opened.folds] == [(498, True)]
    assert folded(groups_of(training(500)), expanded=["F1-2", "nonsense"]) == folded(groups_of(training(500)))


def test_the_same_graph_is_folded_the_same_way():
    assert folded(groups_of(training(50)), keep=["C9"]) == folded(groups_of(training(50)), keep=["C9"])


def test_many_different_lines_become_a_few_groups():
    cut = folded(groups_of(chain(*range(1, 99))))

    assert not cut.graph.calls
    assert len(cut) <= 40
    assert cut.folds[0].lines == (1, 5)


def test_a_box_has_the_path_of_the_parameters_inside():
    events = []
    place = Callsite(3, cell=1, function="Block.forward", caller=Callsite(9, cell=1))
    for i in range(60):
        weight = tensor(100 + i, requires_grad=True)
        events.append(made(i, "F.linear", place, (tensor(i), weight), (tensor(i + 1, is_leaf=False, node=i),)))
    nodes = tuple(AutogradNode(i, "AddmmBackward0", i, call=i) for i in range(60))
    from inplace_magic.record.names import TensorName

    names = tuple(TensorName(100 + i, f"net.layer{1 + i // 30}[{i % 30}].weight") for i in range(60))

    cut = folded(groups_of(AutogradGraph.of(Story(Trace(calls=tuple(events), nodes=nodes, names=names)))))

    assert {fold.path for fold in cut.folds} == {"net"}
    assert [frame.name for frame in cut.frames] == ["Block"]
