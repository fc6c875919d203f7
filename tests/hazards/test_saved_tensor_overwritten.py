"""A saved tensor that was overwritten: both places, the versions, and when it is no finding."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from builders import made, sigmoid_trace, site
from hazards.running import cure, example, plainly, watched

from inplace_magic.hazards import find_hazards
from inplace_magic.hazards.rules import saved_tensor_overwritten as rule
from inplace_magic.record.autograd import Backward
from inplace_magic.record.trace import Trace

SETUP = "logits = torch.tensor([0.5, -1.0, 2.0], requires_grad=True)"


def codes(trace: Trace) -> list[str]:
    found, faults = find_hazards(trace)
    assert faults == ()
    return [hazard.code for hazard in found]


def unfinished(*, pending: bool) -> Trace:
    """The sigmoid cell without its last line: no backward was run."""
    trace = sigmoid_trace()
    nodes = tuple(replace(node, pending=pending) for node in trace.nodes)
    return replace(trace, calls=trace.calls[:-1], nodes=nodes)


def test_the_finding_names_saver_writer_versions_and_node() -> None:
    (finding,), _ = find_hazards(sigmoid_trace())
    assert finding.code == rule.CODE
    assert finding.severity == "error"
    assert finding.raised
    assert finding.variable == "probs"
    assert finding.saved == site(5)
    assert finding.mutation == site(6)
    assert finding.mutations == (site(6),)
    assert finding.saved_by == "SigmoidBackward0"
    assert (finding.expected_version, finding.found_version) == (0, 1)
    assert (finding.tensor, finding.call, finding.saved_call) == (4, 4, 3)
    assert "`probs[2] = 2.0` (Cell In[7], line 6)" in finding.message
    assert "`probs = torch.sigmoid(logits)` (Cell In[7], line 5)" in finding.message
    assert "probs = probs.clone()" in cure(finding)


def test_it_is_found_before_backward_is_run() -> None:
    (finding,), _ = find_hazards(unfinished(pending=True))
    assert not finding.raised
    assert "PyTorch will raise" in finding.message
    assert (finding.saved, finding.mutation) == (site(5), site(6))


def test_where_backward_failed_a_graph_that_it_would_not_have_come_to_is_a_warning(tmp_path: Path) -> None:
    program = """
        seen = torch.exp(logits)
        value = seen.sum()
        seen.add_(1)
        gate, shift = torch.sigmoid(logits), torch.tanh(logits)
        loss = (gate * shift).sum()
        gate.mul_(2)
        shift.mul_(2)
        loss.backward()
        """
    found = watched(tmp_path, SETUP, program).report.hazards

    assert {finding.variable: finding.severity for finding in found} == {
        "shift": "error",
        "gate": "error",
        "seen": "warning",
    }


def test_a_saver_that_let_go_of_its_tensor_is_no_finding() -> None:
    assert codes(unfinished(pending=False)) == []


def test_a_write_after_backward_is_no_finding() -> None:
    trace = sigmoid_trace()
    backward = replace(trace.calls[6], index=4, error=None, refusal=None, callsite=site(8))
    write = replace(trace.calls[4], index=5)
    trace = replace(trace, calls=(*trace.calls[:4], backward, write), backwards=(Backward(4, (5,)),))
    assert codes(trace) == []


def test_every_later_write_is_listed_and_the_first_one_is_blamed() -> None:
    trace = unfinished(pending=True)
    first = trace.calls[4]
    again = replace(
        first,
        index=5,
        callsite=site(7),
        inputs=first.mutated,
        mutations=(replace(first.mutations[0], version_before=1, version_after=2),),
        mutated=(replace(first.mutated[0], version=2),),
    )
    (finding,), _ = find_hazards(replace(trace, calls=(*trace.calls[:5], again)))
    assert finding.mutation == site(6)
    assert finding.mutations == (site(6), site(7))
    assert finding.found_version == 2
    assert "and 1 more time" in finding.message


def test_when_nobody_was_seen_writing_the_finding_says_so() -> None:
    trace = sigmoid_trace()
    backward = replace(trace.calls[6], index=0)
    (finding,), _ = find_hazards(Trace(calls=(backward,)))
    assert (finding.code, finding.mutation, finding.saved) == (rule.CODE, None, None)
    assert (finding.expected_version, finding.found_version) == (0, 1)
    assert finding.message.endswith("It is unknown which write it was.")  # and no reason is made up


def test_a_tensor_saved_before_the_watch_is_matched_by_the_version_that_pytorch_names() -> None:
    trace = sigmoid_trace()
    saved = tuple(replace(s, version=None) if s.node == 3 else s for s in trace.saved)
    nodes = tuple(replace(n, call=None) if n.node == 3 else n for n in trace.nodes)
    (finding,), _ = find_hazards(replace(trace, saved=saved, nodes=nodes))
    assert finding.mutation == site(6)
    assert finding.saved is None
    assert "before this watch began" in finding.message


def test_of_two_writes_that_fit_an_error_without_a_saver_none_is_blamed() -> None:
    *_, write, _, backward = sigmoid_trace().calls
    mutations, given, left = (
        tuple(replace(each, tensor=9, storage=9, counter=9) for each in group)
        for group in (write.mutations, write.inputs, write.mutated)
    )
    second = replace(write, index=5, inputs=given, mutations=mutations, mutated=left)
    (alone,), _ = find_hazards(Trace(calls=(write, backward)))
    (finding,), _ = find_hazards(Trace(calls=(write, second, backward)))
    assert (alone.mutation, finding.mutation) == (site(6), None)


def test_a_tensor_packed_by_hooks_is_not_guessed_at() -> None:
    trace = sigmoid_trace()
    saved = tuple(replace(s, version=None, hooked=True) for s in trace.saved)
    nodes = tuple(replace(n, name="MulBackward0") if n.name == "CopySlices" else n for n in trace.nodes)
    (finding,), _ = find_hazards(replace(trace, saved=saved, nodes=nodes))
    assert (finding.saved, finding.saved_by, finding.saved_call) == (None, None, None)


def test_the_same_backward_tried_twice_is_one_finding() -> None:
    trace = sigmoid_trace()
    again = replace(trace.calls[6], index=7)
    assert codes(replace(trace, calls=(*trace.calls, again))) == [rule.CODE]


def test_a_query_between_the_places_changes_nothing() -> None:
    trace = unfinished(pending=True)
    assert codes(replace(trace, calls=(*trace.calls, made(6, "Tensor.size", site(8))))) == [rule.CODE]


def test_the_bad_program_gives_both_places(tmp_path: Path) -> None:
    ran = watched(tmp_path, SETUP, example(rule, "Bad"))
    assert isinstance(ran.error, RuntimeError)
    finding = ran.the(rule.CODE)
    assert (finding.severity, finding.raised) == ("error", True)
    assert ran.at(finding.saved) == "probs = torch.sigmoid(logits)"
    assert ran.at(finding.mutation) == "probs[2] = 2.0"
    assert finding.variable == "probs"
    assert finding.saved_by == "SigmoidBackward0"
    assert (finding.expected_version, finding.found_version) == (0, 1)


def test_the_bad_program_without_its_backward_is_found_too(tmp_path: Path) -> None:
    ran = watched(tmp_path, SETUP, "probs = torch.sigmoid(logits)\nprobs[2] = 2.0\nloss = probs.sum()")
    assert ran.error is None
    assert not ran.the(rule.CODE).raised


def test_a_sample_drawn_with_grad_on_is_no_error(tmp_path: Path) -> None:
    """Nobody takes a loss of it: no single number that comes of the overwritten values is alive."""
    ran = watched(
        tmp_path,
        """
        net = torch.nn.Linear(2, 1)
        x = torch.zeros(5, 3)
        for i in range(2):
            x[:, i + 1] = torch.exp(net(x[:, i : i + 2]))[:, 0]
        """,
    )
    assert [hazard.severity for hazard in ran.report.hazards if hazard.code == rule.CODE] == ["warning"]


def test_the_good_program_is_quiet_and_runs(tmp_path: Path) -> None:
    ran = watched(tmp_path, SETUP, example(rule, "Good"))
    assert ran.error is None
    assert ran.codes() == set()


def test_without_us_pytorch_raises_and_names_no_line(tmp_path: Path) -> None:
    ran = plainly(tmp_path, SETUP, example(rule, "Bad"))
    assert isinstance(ran.error, RuntimeError)
    assert "is at version 1; expected version 0 instead" in str(ran.error)
    assert "probs" not in str(ran.error)
    assert "line" not in str(ran.error).replace("inplace", "")


def test_a_write_to_other_elements_says_that_what_was_saved_is_intact(tmp_path: Path) -> None:
    ran = watched(
        tmp_path,
        "import torch\n"
        "pose = torch.ones(3, 2, requires_grad=True) * 1\n"
        "angle = pose[:, 0].sin()\n"
        "pose[:, 1] = 0.5\n"
        "angle.sum().backward()\n",
    )
    finding = ran.the("saved-tensor-overwritten")
    assert "what was saved is intact" in finding.message
    assert "share one version counter" in finding.message


THREAD = """
import threading
w, scale = torch.ones(3, requires_grad=True), torch.ones(3)
def decay():
    scale.mul_(0.9)
out = (w * scale).sum()
worker = threading.Thread(target=decay)
worker.start()
worker.join()
out.backward()
"""


def test_a_write_on_another_thread_is_one_finding_that_names_the_saver_and_both_versions(tmp_path: Path) -> None:
    ran = watched(tmp_path, "", THREAD)
    (finding,) = [hazard for hazard in ran.report.hazards if hazard.severity != "info"]
    assert (finding.code, finding.variable, finding.saved_by) == (rule.CODE, "scale", "MulBackward0")
    assert (finding.expected_version, finding.found_version) == (0, 1)
    assert ran.at(finding.saved) == "out = (w * scale).sum()"
    assert finding.mutation is None


def test_a_line_that_says_the_model_names_its_weight_and_not_a_name_that_came_later(tmp_path: Path) -> None:
    program = """
        def main():
            model, other = nn.Linear(3, 1), nn.Linear(3, 1)
            out = model(nn.Linear(3, 3)(torch.ones(4, 3))).mean()
            model.load_state_dict(other.state_dict())
            with contextlib.suppress(RuntimeError):
                out.backward()
            return [model]
        kept = main()
        """
    finding = watched(tmp_path, "import contextlib", program).the("saved-tensor-overwritten")
    assert finding.variable == "model.weight"
