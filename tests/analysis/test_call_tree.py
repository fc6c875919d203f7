"""Lines, functions and loops, found in a flat list of calls."""

from __future__ import annotations

from inplace_magic.analysis.call_tree import call_tree
from inplace_magic.analysis.tree.branches import Branch
from inplace_magic.analysis.vertices import CallVertex
from inplace_magic.record.places import Callsite


def calls(
    *lines: int, caller: Callsite | None = None, modules: tuple[str, ...] = (), first: int = 0
) -> list[CallVertex]:
    """A call on each of the lines, in that order."""
    return [
        CallVertex(f"C{i}", i, "torch.exp", "ordinary", site=Callsite(line, cell=1, caller=caller), modules=modules)
        for i, line in enumerate(lines, first)
    ]


def shape(branches: tuple[Branch, ...]) -> str:
    """``3 2*(4 5) 6``: lines, and loops with their first pass."""
    found = []
    for branch in branches:
        if branch.kind == "loop":
            found.append(f"{len(branch.parts)}*({shape(branch.parts[:1])})")
        elif branch.parts:
            found.append(shape(branch.parts))
        else:
            site = branch.calls[0].site
            found.append(str(site.line if site is not None else "?"))
    return " ".join(found)


def test_lines_that_go_forward_are_no_loop():
    assert shape(call_tree(calls(1, 2, 3, 7))) == "1 2 3 7"


def test_a_line_that_comes_again_begins_another_pass():
    assert shape(call_tree(calls(3, 4, 5, 4, 5, 4, 5, 6))) == "3 3*(4 5) 6"


def test_a_loop_of_one_line_is_a_loop():
    assert shape(call_tree(calls(1, 2, 2, 2, 2))) == "1 4*(2)"


def test_a_loop_in_a_loop():
    assert shape(call_tree(calls(2, 3, 4, 3, 4, 5, 2, 3, 4, 3, 4, 5, 6))) == "2*(2 2*(3 4) 5) 6"


def test_passes_that_take_different_branches_are_one_loop():
    assert shape(call_tree(calls(2, 3, 5, 2, 4, 5, 2, 3, 5, 9))) == "3*(2 3 5) 9"


def test_a_last_pass_that_breaks_off_follows_its_loop():
    assert shape(call_tree(calls(2, 3, 4, 2, 3, 4, 2, 3))) == "2*(2 3 4) 2 3"


def test_a_last_pass_that_skips_a_line_is_a_pass():
    assert shape(call_tree(calls(2, 3, 4, 2, 4))) == "2*(2 3 4)"


def test_an_outer_call_written_above_its_argument_is_no_loop():
    assert shape(call_tree(calls(3, 2, 4))) == "3 2 4"


def test_a_function_that_runs_twice_in_a_row_is_one_group_of_two_passes():
    outer = Callsite(9, cell=1, column=0, end_column=4)
    block = [
        CallVertex(
            f"C{i}", i, "torch.exp", "ordinary", site=Callsite(line, cell=1, function="Block.forward", caller=outer)
        )
        for i, line in enumerate([2, 3, 4, 2, 3, 4])
    ]

    (found,) = call_tree([*block])

    assert (found.kind, found.step.name, len(found.parts)) == ("loop", "Block", 2)


def test_modules_of_libraries_are_levels_of_their_own():
    stem = calls(5, modules=("Net", "Sequential", "Conv2d")) + calls(5, modules=("Net", "Sequential", "ReLU"), first=1)
    head = calls(5, 5, modules=("Net", "Linear"), first=2)

    (net,) = call_tree([*stem, *head])

    assert net.step.name == "Net"
    assert [part.step.name for part in net.parts] == ["Sequential", "Linear"]


def test_calls_without_a_place_are_kept():
    lost = [CallVertex(f"C{i}", i, "torch.exp", "ordinary") for i in range(3)]

    assert [call.key for branch in call_tree(lost) for call in branch.calls] == ["C0", "C1", "C2"]


def test_every_call_is_in_the_tree_once_and_in_order():
    given = calls(1, 2, 3, 2, 3, 4, 1, 2, 5, 5, 5, 3, 1, 9, 2, 2)

    assert [call for branch in call_tree(given) for call in branch.calls] == given


def test_a_way_of_any_length_has_a_tree():
    deep = calls(*[2, 3] * 20, modules=tuple(f"Module{i}" for i in range(5000)))

    assert [call for branch in call_tree(deep) for call in branch.calls] == deep
