"""What of a large graph is drawn."""

from __future__ import annotations

from dataclasses import replace

import torch
from builders import sigmoid_report, site, tensor
from render.samples import long_report

import inplace_magic
from inplace_magic.analysis.graph import AutogradGraph
from inplace_magic.analysis.story import Story
from inplace_magic.analysis.vertices import Edge
from inplace_magic.record.autograd import AutogradNode
from inplace_magic.record.events import CallEvent, Mutation
from inplace_magic.record.trace import Trace
from inplace_magic.render.drawing import MAX_NODES, SMALL, drawing_of, outline_of
from inplace_magic.render.graph.boxes import heading_of
from inplace_magic.render.reading import Reading
from inplace_magic.render.temporaries import without_temporaries


def network(layers: int) -> Trace:
    """A chain of BatchNorm layers, each with a weight that only it reads and statistics that it writes uncounted."""
    calls = []
    for i in range(layers):
        given, weight, mean = tensor(i), tensor(100 + i), tensor(200 + i)
        made = tensor(i + 1, is_leaf=False, node=i)
        write = (Mutation(200 + i, 0, 0, 200 + i, 200 + i),)
        calls.append(CallEvent(i, "F.batch_norm", "in-place", site(2), (given, weight, mean), (made,), write))
    return Trace(
        calls=tuple(calls), nodes=tuple(AutogradNode(i, "BatchNormBackward0", i, call=i) for i in range(layers))
    )


def test_a_small_graph_is_drawn_as_it_is_but_for_calls_that_made_a_tensor_out_of_nothing():
    graph = AutogradGraph.of(Story(sigmoid_report().trace))

    drawing = drawing_of(outline_of(graph, sigmoid_report().findings))

    assert drawing.graph.tensors == graph.tensors
    assert [call.key for call in drawing.graph.calls] == ["C2", "C3", "C4", "C5", "C6"]
    assert {key: maker.key for key, maker in drawing.makers.items()} == {"T1@v0": "C0", "T2@v0": "C1"}


def test_in_a_large_graph_parameters_and_statistics_stand_in_the_box_of_the_only_call_that_uses_them():
    drawing = drawing_of(outline_of(AutogradGraph.of(Story(network(SMALL // 2))), ()))

    assert drawing.notes["C3"] == ["reads T103 and 1 more", "✎ writes T203"]
    assert {vertex.tensor for vertex in drawing.graph.tensors} == set(range(1, SMALL // 2 + 1))
    assert len(drawing.graph.calls) == SMALL // 2


def test_in_a_small_graph_they_stay_boxes_of_their_own():
    drawing = drawing_of(outline_of(AutogradGraph.of(Story(network(3))), ()))

    assert drawing.notes == {}
    assert len(drawing.graph.tensors) == 4 + 3 + 2 * 3


def test_a_base_does_not_show_views_that_only_untracked_calls_read():
    """``[torch.sin(x * f) for f in freqs]``, again and again: a view of `freqs` for each number in it."""
    trace = network(SMALL)
    views = range(500, 540)
    iteration = tuple(
        CallEvent(
            SMALL + i, "Tensor.unbind", "view", site(3), (tensor(400),), (tensor(number, storage=400, is_view=True),)
        )
        for i, number in enumerate(views)
    )

    drawing = drawing_of(outline_of(AutogradGraph.of(Story(replace(trace, calls=(*trace.calls, *iteration)))), ()))

    drawn = {vertex.tensor for vertex in drawing.graph.tensors}
    assert drawn
    assert not drawn & {400, *views}


def test_views_that_a_drawn_call_reads_show_their_base():
    trace = network(SMALL)
    views = tuple(tensor(number, storage=400, is_view=True) for number in (500, 501))
    chunk = CallEvent(SMALL, "Tensor.chunk", "view", site(3), (tensor(400),), views)
    read = CallEvent(SMALL + 1, "Tensor.mul", "ordinary", site(4), views, (tensor(502, is_leaf=False, node=SMALL),))
    nodes = (*trace.nodes, AutogradNode(SMALL, "MulBackward0", SMALL, call=SMALL + 1))

    whole = AutogradGraph.of(Story(replace(trace, calls=(*trace.calls, chunk, read), nodes=nodes)))

    assert {400, 500, 501} <= {vertex.tensor for vertex in outline_of(whole, ()).graph.tensors}


def test_slices_that_only_folded_passes_read_are_not_drawn():
    """A decoder that takes ``target[:, i]`` in each of its passes: one pass is drawn, with its own slice."""
    table, cell = torch.nn.Embedding(5, 4), torch.nn.GRUCell(4, 4)
    with inplace_magic.watch() as watch:
        for _ in range(4):
            target, hidden = torch.zeros(2, 12, dtype=torch.long), torch.zeros(2, 4)
            for i in range(12):
                word = target[:, i].unsqueeze(1)
                hidden = cell(table(word).squeeze(1), hidden)
            hidden.sum().backward()
    whole = AutogradGraph.of(Story(watch.report.trace))

    graph = drawing_of(outline_of(whole, ())).graph

    joined = {key for edge in graph.edges if edge.kind != "view" for key in (edge.source, edge.target)}
    bases = {edge.source for edge in graph.edges if edge.kind == "view"}
    assert graph.tensors
    assert all(vertex.key in joined | bases for vertex in graph.tensors)
    assert len(graph.tensors) < 12


def nameless(trace: Trace) -> AutogradGraph:
    """The graph of a trace without names, as temporaries are."""
    story = Story(trace)
    vars(story)["best_names"] = {}
    return AutogradGraph.of(story)


def test_in_a_large_graph_a_result_without_a_name_stands_in_the_box_of_its_maker():
    drawing = drawing_of(outline_of(nameless(network(SMALL // 2)), ()))

    assert drawing.notes["C3"] == ["reads T103 and 1 more", "✎ writes T203", "gives T4  float32[8]"]
    assert {vertex.tensor for vertex in drawing.graph.tensors} == {SMALL // 2}, "the last result, which nothing uses"
    assert Edge("C3", "C4", "data") in drawing.graph.edges


def test_a_result_stays_a_box_where_it_has_a_name_or_is_written_later_or_a_finding_is_about_it():
    trace = long_report(60).trace
    number = len(trace.calls)
    again = replace(tensor(5), version=1)
    write = CallEvent(number, "Tensor.add_", "in-place", site(3), (tensor(5),), (again,), (Mutation(5, 0, 1, 5, 5),))
    story = Story(replace(trace, calls=(*trace.calls, write)))
    vars(story)["best_names"] = {7: "probs"}
    graph = AutogradGraph.of(story)
    kept = {"T9@v0"}

    shown, _ = without_temporaries(graph, kept)

    assert {"T5@v0", "T5@v1", "T7@v0", "T9@v0"} <= {vertex.key for vertex in shown.tensors}
    assert "T6@v0" not in {vertex.key for vertex in shown.tensors}


def test_a_result_that_its_own_maker_keeps_for_backward_says_so_in_the_box():
    graph = nameless(long_report(60).trace)

    _, notes = without_temporaries(graph, ())

    assert notes["C3"] == ["gives T4  float32[8], kept for backward"]


def test_what_a_finding_names_is_never_left_out():
    report = long_report(400)
    untracked = replace(report.trace, nodes=report.trace.nodes[:10])

    drawing = drawing_of(outline_of(AutogradGraph.of(Story(untracked)), report.findings))

    assert set(drawing.roles.keys) <= {vertex.key for vertex in (*drawing.graph.tensors, *drawing.graph.calls)}
    assert "C200" in drawing.roles.keys


def test_a_graph_without_autograd_is_still_drawn():
    trace = replace(network(SMALL // 2), nodes=())

    assert len(drawing_of(outline_of(AutogradGraph.of(Story(trace)), ())).graph.calls) == SMALL // 2


def test_however_many_findings_there_are_no_picture_is_larger_than_the_limit():
    report = long_report(400)
    (finding,) = report.findings
    many = tuple(replace(finding, call=call, saved_call=call - 1) for call in range(1, 400))

    drawing = drawing_of(outline_of(AutogradGraph.of(Story(report.trace)), many))

    assert len(drawing.graph) + len(drawing.folds) <= MAX_NODES
    assert "nearest to the findings" in " ".join(drawing.captions) or "folded into" in " ".join(drawing.captions)


def test_opening_more_than_a_picture_can_hold_changes_nothing():
    graph = AutogradGraph.of(Story(long_report(400).trace))
    keys = {fold.key for fold in drawing_of(outline_of(graph, ())).folds}

    one = drawing_of(outline_of(graph, ()), expanded=set(sorted(keys)[:1]))

    assert {call.key for call in one.graph.calls} == {f"C{i}" for i in range(20)}
    assert drawing_of(outline_of(graph, ()), expanded=keys) == drawing_of(outline_of(graph, ()))


def test_what_filled_a_new_module_is_one_box_and_only_what_the_readers_lines_wrote_is_marked():
    with inplace_magic.watch() as w:
        conv, line = torch.nn.Conv2d(3, 8, 3), torch.nn.Linear(4, 2)
        x = torch.zeros(1, 3, 8, 8)
        h = torch.relu_(x)
        torch.nn.init.ones_(line.weight)
        y = conv(h), line(torch.zeros(4))
    assert y
    report = w.report
    drawing = Reading(report).drawing()

    assert {(fold.path, fold.name, fold.initialised) for fold in drawing.folds} == {
        ("conv", "Conv2d", True),
        ("line", "Linear", True),
    }
    marked = {vertex.name for vertex in drawing.graph.tensors if vertex.mutated}
    assert marked == {"x", "line.weight"}, "`init.ones_` is a line of the reader's"
    assert not [vertex for vertex in drawing.graph.tensors if not vertex.name and vertex.origin == "created"][2:], (
        "the results of `conv` and `line` alone have no name"
    )
    assert "⊞ conv: Conv2d, initialised" in report.to_dot()
    opened = Reading(report).drawing(expanded={fold.key for fold in drawing.folds})
    assert opened.folds == ()
    assert {"conv.weight", "conv.bias"} <= {vertex.name for vertex in opened.graph.tensors if vertex.mutated}


def test_what_filled_a_module_is_drawn_where_a_finding_is_about_it():
    with inplace_magic.watch() as w:
        line = torch.nn.Linear(3, 3)
        out = line(torch.ones(1, 3, requires_grad=True))
        line.weight.data.mul_(2)
        out.sum().backward()
    drawing = Reading(w.report).drawing()
    kept = set(drawing.roles.keys)
    assert kept
    assert not any(f"C{call}" in kept for fold in drawing.folds for call in fold.calls)


def test_a_statement_that_is_opened_keeps_its_code_as_its_name() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
    optimizer = torch.optim.Adam(model.parameters())
    with inplace_magic.watch() as watched:
        for _ in range(3):
            loss = model(torch.randn(3, 4)).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    reading = Reading(watched.report)
    closed = {heading_of(fold): fold.key for fold in reading.drawing().folds}
    opened = reading.drawing({closed["optimizer.step()"]})
    assert any(heading_of(frame).startswith("optimizer.step(): 4 passes") for frame in opened.frames)
