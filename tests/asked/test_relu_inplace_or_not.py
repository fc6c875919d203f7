"""Asked: what does ``nn.ReLU(inplace=True)`` do to its input, and who reads the overwritten values afterwards?"""

from __future__ import annotations

import re

from asked.asking import Asked, Asker, alarms, only_write

CONVS = """\
conv1 = nn.Conv2d(1, 1, 1)
conv2 = nn.Conv2d(1, 1, 1)
with torch.no_grad():
    conv1.weight.fill_(1.0), conv1.bias.fill_(0.0), conv2.weight.fill_(3.0), conv2.bias.fill_(0.0)
x = torch.tensor([[[[-2.0, -1.0], [1.0, 2.0]]]])
relu_inplace = nn.ReLU(inplace=True)
"""
BEFORE, AFTER = (-2.0, -1.0, 1.0, 2.0), (0.0, 0.0, 1.0, 2.0)


def two_lines(ask: Asker, inplace: bool) -> Asked:
    return ask(f"o1 = conv1(x)\nh1 = nn.ReLU(inplace={inplace})(o1)\n", given=CONVS)


def test_inplace_keeps_the_object_and_its_memory_and_counts_one_version(ask: Asker) -> None:
    asked = two_lines(ask, inplace=True)
    (conv,), (relu,) = asked.call(2).outputs, asked.call(3).outputs
    assert asked.call(3).kind == "in-place"
    assert relu.tensor == conv.tensor
    assert (relu.python_id, relu.data_ptr) == (conv.python_id, conv.data_ptr)
    assert (relu.python_id, relu.data_ptr) == (id(asked.user["o1"]), asked.user["o1"].data_ptr())
    assert (conv.version, relu.version) == (0, 1)
    assert asked.user["h1"] is asked.user["o1"]


def test_inplace_replaces_grad_fn_and_the_values_before_and_after_are_kept(ask: Asker) -> None:
    asked = two_lines(ask, inplace=True)
    (conv,), (relu,) = asked.call(2).outputs, asked.call(3).outputs
    assert (asked.node(conv.node), asked.node(relu.node)) == ("ConvolutionBackward0", "ReluBackward0")
    write = only_write(asked.call(3))
    assert (write.tensor, write.version_before, write.version_after) == (conv.tensor, 0, 1)
    assert (write.values_before, write.values_after) == (BEFORE, AFTER)
    assert alarms(asked.report) == []


def test_inplace_is_one_tensor_with_two_versions_in_the_table_and_a_sentence_in_the_text(ask: Asker) -> None:
    asked = two_lines(ask, inplace=True)
    rows = asked.frame("tensors").loc[[2, 3]]
    assert rows["tensor"].nunique() == rows["id"].nunique() == rows["data_ptr"].nunique() == 1
    assert list(rows["version"]) == [0, 1]
    assert list(rows["origin"]) == ["created", "mutated"]
    assert list(rows["grad_fn"]) == ["ConvolutionBackward0", "ReluBackward0"]
    assert list(rows["values_before"]) == ["", "-2, -1, 1, 2"]
    assert list(rows["values_after"]) == ["", "0, 0, 1, 2"]
    assert "mutated in place v0→v1: [0, 0, 0, 0]: -2 → 0, [0, 0, 0, 1]: -1 → 0" in asked.report.to_text()


def test_out_of_place_gives_another_object_and_leaves_the_first_as_it_was(ask: Asker) -> None:
    asked = two_lines(ask, inplace=False)
    (conv,), (relu,) = asked.call(2).outputs, asked.call(3).outputs
    assert asked.call(3).kind == "ordinary"
    assert asked.call(3).mutations == ()
    assert relu.tensor != conv.tensor
    assert relu.python_id == id(asked.user["h1"]) != conv.python_id
    assert relu.data_ptr != conv.data_ptr
    assert (conv.version, relu.version) == (0, 0)
    assert asked.user["o1"].flatten().tolist() == list(BEFORE)
    assert asked.user["o1"]._version == 0
    assert list(asked.frame("tensors").loc[[2, 3], "origin"]) == ["created", "created"]


def test_a_second_branch_reads_the_overwritten_tensor_and_the_report_says_which_version(ask: Asker) -> None:
    asked = ask("x = conv1(x)\nh1 = relu_inplace(x)\nh2 = conv2(x)\n", given=CONVS)
    (made,) = asked.call(2).outputs
    read = asked.call(4).inputs[0]
    assert only_write(asked.call(3)).tensor == made.tensor == read.tensor
    assert (made.version, read.version) == (0, 1)
    assert asked.user["h2"].flatten().tolist() == [3 * value for value in AFTER]
    assert re.match(rf"{made.label}\b[^,]*@v1", str(asked.frame("calls").loc[4, "inputs"]))


def test_without_inplace_the_second_branch_reads_what_conv1_gave(ask: Asker) -> None:
    asked = ask("x = conv1(x)\nh1 = nn.ReLU()(x)\nh2 = conv2(x)\n", given=CONVS)
    (made,) = asked.call(2).outputs
    read = asked.call(4).inputs[0]
    assert (read.tensor, read.version) == (made.tensor, 0)
    assert asked.user["h2"].flatten().tolist() == [3 * value for value in BEFORE]


def test_a_network_that_is_given_the_argument_of_an_inplace_relu_reads_the_rectified_input(ask: Asker) -> None:
    network = CONVS + "network = nn.Sequential(conv1, conv2)\n"
    asked = ask("y = F.relu(x, inplace=True)\nz = network(x)\n", given=network)
    write = only_write(asked.call(2))
    first, second = asked.calls(3)
    assert asked.call(2).kind == "in-place"
    assert (first.inputs[0].tensor, first.inputs[0].version) == (write.tensor, 1)
    assert (write.values_before, write.values_after) == (BEFORE, AFTER)
    assert second.inputs[0].tensor == first.outputs[0].tensor
    assert asked.user["z"].flatten().tolist() == [3 * value for value in AFTER]
    assert asked.user["y"] is asked.user["x"]
