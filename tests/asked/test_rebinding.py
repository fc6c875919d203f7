"""Asked: is ``x = conv(x)`` in-place? And is ``x = relu_inplace(x)``, where the name is assigned as well?"""

from __future__ import annotations

from asked.asking import Asker, alarms, births, only_write

NET = """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 1, 1)
        self.conv2 = nn.Conv2d(1, 1, 1)
net = Net()
image = torch.ones(1, 1, 2, 2)
"""
FORWARD = """\
def forward(self, x):
    x = self.conv1(x)
    x = self.conv2(x)
    return x
out = forward(net, image)
"""


def test_assigning_the_result_to_the_same_name_is_rebinding_and_writes_nothing(ask: Asker) -> None:
    asked = ask(FORWARD, given=NET)
    first, second = asked.call(3), asked.call(4)
    assert (first.kind, second.kind) == ("ordinary", "ordinary")
    assert first.mutations == second.mutations == ()
    assert second.inputs[0].tensor == first.outputs[0].tensor != second.outputs[0].tensor
    assert second.inputs[0].version == 0
    assert (
        f"rebound: `x` was {first.outputs[0].label}, is {second.outputs[0].label}; nothing written"
        in asked.report.to_text()
    )
    assert alarms(asked.report) == []


def test_the_first_result_stays_alive_because_the_graph_saved_it(ask: Asker) -> None:
    asked = ask(FORWARD, given=NET)
    (first,) = asked.call(3).outputs
    keeps = [saved for saved in asked.report.trace.saved if saved.tensor == first.tensor]
    assert [(asked.node(saved.node), saved.name, saved.version) for saved in keeps] == [
        ("ConvolutionBackward0", "input", 0)
    ]
    (storage,) = [storage for storage in asked.report.trace.storages if storage.storage == first.storage]
    assert storage.ended is None
    row = asked.frame("saved").query("tensor == @first.label").iloc[0]
    assert (row["line"], row["code"], row["nbytes"]) == (4, "x = self.conv2(x)", 16)
    assert asked.frame("lines").loc[3, "retained_bytes"] == 16


def test_without_a_graph_the_first_result_is_freed_when_the_name_moves_on(ask: Asker) -> None:
    asked = ask("with torch.no_grad():\n    x = net.conv1(image)\n    x = net.conv2(x)\n    y = x + 1\n", given=NET)
    (first,) = asked.call(3).outputs
    (storage,) = [storage for storage in asked.report.trace.storages if storage.storage == first.storage]
    assert storage.ended is not None
    assert list(asked.report.trace.saved) == []
    assert asked.frame("lines").loc[3, "retained_bytes"] == 0


def test_an_assigned_name_does_not_make_an_inplace_call_ordinary(ask: Asker) -> None:
    asked = ask(
        "x = net.conv1(image)\nbefore = x\nx = relu_inplace(x)\n", given=NET + "relu_inplace = nn.ReLU(inplace=True)\n"
    )
    relu = asked.call(4)
    assert relu.kind == "in-place"
    assert only_write(relu).tensor == relu.inputs[0].tensor == relu.outputs[0].tensor
    assert asked.user["x"] is asked.user["before"]
    assert "rebound: `x` was T" not in asked.report.to_text().split("relu_inplace(x)", 1)[1]
    assert births(asked.report) == 1


def test_sigmoid_makes_a_tensor_and_sigmoid_with_an_underscore_writes_one(ask: Asker) -> None:
    asked = ask("a = torch.sigmoid(t)\nb = torch.sigmoid_(t)\n", given="t = torch.zeros(2)\n")
    made, wrote = asked.call(2), asked.call(3)
    assert (made.kind, wrote.kind) == ("ordinary", "in-place")
    assert made.outputs[0].tensor != made.inputs[0].tensor
    assert made.outputs[0].storage != made.inputs[0].storage
    assert wrote.outputs[0].tensor == wrote.inputs[0].tensor == made.inputs[0].tensor
    write = only_write(wrote)
    assert (write.version_before, write.version_after) == (0, 1)
    assert (write.values_before, write.values_after) == ((0.0, 0.0), (0.5, 0.5))
    assert asked.user["b"] is asked.user["t"]
    assert births(asked.report) == 1
