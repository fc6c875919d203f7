"""Every fix that is shown as a diff cures the program that it is shown for; where no cure is certain, none is shown."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest
from builders import sigmoid_trace
from hazards.curing import cured, diff_of, differing, run, watch_cell
from hazards.patching import patched
from hazards.running import watched
from programs import score

from inplace_magic.hazards import find_hazards
from inplace_magic.hazards.rule import Cures
from inplace_magic.report import Report

SETS = (score.packed.FIRST, score.packed.FURTHER)

WITHOUT_A_DIFF = {
    "silent_mixup_reads_the_scaled_batch": "a sentence says what to compute first, in lines of its own",
    "foreach_divides_the_feature_list": "the next layer saved the list's tensors as well, inside its module",
    "functional_call_parameters_decayed_before_backward": "the dict of parameters is to be made anew",
    "reduce_with_iadd_over_branches": "what the addition is to be replaced by stands inside an argument",
    "partial_of_clamp_as_activation": "where the copy goes is tried, and not told from the line",
    "silent_autocast_keeps_the_old_weights": "where the block is to end is the author's choice",
    "silent_batch_dicts_scaled_every_epoch": "whether the dict keeps the image or its multiple is the author's choice",
    "silent_checkpoint_recomputes_with_another_temperature": "what is to move is the author's choice",
    "silent_checkpoints_of_live_weights_averaged": "what the list keeps is made by a comprehension inside the call",
    "silent_class_attribute_counts_for_all": "a sentence says to make the tensor for each object",
    "silent_constant_scaled_by_every_call": "whether each run is to begin anew is the author's choice",
    "silent_dataclass_default_tensor_shared": "a sentence says to make the tensor for each object",
    "silent_flat_view_standardised": "no finding",
    "silent_full_backward_hook_clamps_output_gradient": "what a module's hook must return is not on the line",
    "silent_list_of_weights_copied_shallowly": "no finding",
    "silent_load_state_dict_assigns_the_live_weights": "whether assign or the sharing is to go is the author's choice",
    "silent_make_grid_normalises_weights": "no finding",
    "silent_mutable_default_accumulates": "a sentence says to make the tensor in each call",
    "silent_numpy_observation_buffer_reused": "whether to copy as it is given or as it is taken is the author's choice",
    "silent_optimizer_state_kept_by_reference": "no finding",
    "silent_random_erasing_on_a_crop_view": "the image is to see the write into its crop",
    "silent_raw_gradients_after_clipping": "no finding",
    "silent_state_dicts_averaged_as_swa": "no finding",
    "silent_transitions_share_the_state": "the state gets out of its object in two ways",
    "silent_two_parameters_on_one_tensor": "one statement makes both parameters",
    "view_canvas_sliced_under_no_grad": "the canvas is to see the write",
    "view_inside_no_grad_helper_written_outside": "the cache is to see the write",
    "view_iteration_over_rows_normalised": "the image is to see the write into its row",
    "view_lstm_gates_activated_in_place": "the statement writes four tensors",
    "view_normalised_after_unbind": "the image is to see the write into its row",
    "view_split_gate_scaled": "split gives a tuple, whose slots cannot be bound",
}
"""Programs for which there is no diff, and why."""
STILL_UNEQUAL = {"silent_fused_sgd_in_generator_loop"}
"""Compares with the gradient at the weights before the step; cured, it has the one at the weights after it."""


ABOUT_SAVED_VALUES = {"saved-tensor-overwritten", "saved-values-changed"}
"""Findings after whose fix the gradients are those of the values that the forward pass had. They are told by a run of
the author's program in which everything that autograd saves is copied at that moment."""
MEANT_OTHERWISE = {
    "detached_alias_thresholded": "the loss reads the gate that the copy for the statistics no longer changes",
    "gan_discriminator_step_between_losses": "computed anew, with the stepped discriminator",
    "generator_loop_reuses_old_fake": "computed anew, with the stepped generator",
    "old_style_spectral_norm_stepped_twice": "computed anew, with the stepped layer",
    "rnn_hidden_kept_attached_across_batches": "the gradients end where the batch begins",
    "sac_policy_loss_after_critic_step": "computed anew, with the stepped critic",
    "silent_fused_sgd_in_generator_loop": "computed anew, with the stepped generator",
}
"""Those of them that are cured by more than the old values, and how."""


def failing_programs() -> list[Any]:
    return [
        pytest.param(case["case"], score.source_of(programs, case["case"]), id=case["case"])
        for programs in SETS
        for case in score.cases_in(programs)
        if case["symptom"] != "harmless"
    ]


@pytest.mark.parametrize(("name", "source"), failing_programs())
def test_the_diff_cures_the_program(name: str, source: str, loaded_shell: Any) -> None:
    _error, _wrong, report = score.watched(loaded_shell, source)
    assert report is not None
    assert report.faults == []
    new = cured(source, report)

    if new == source.rstrip("\n"):
        assert name in WITHOUT_A_DIFF
        return
    assert name not in WITHOUT_A_DIFF
    names: dict[str, Any] = {"__name__": "__main__"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(new, name, "exec"), names)  # raises what is not cured
    if name in STILL_UNEQUAL:
        assert [h.code for h in watch_cell(loaded_shell, new).hazards if h.severity != "info"] == []
    else:
        assert not names.get("SILENTLY_WRONG")
    if {hazard.code for hazard in report.hazards if hazard.severity != "info"} <= ABOUT_SAVED_VALUES:
        meant, refused = run(source, as_saved=True)
        got, error = run(new)
        assert (refused, error) == ("", "")
        other = [name for name in differing(meant, got) if name.endswith(".grad")]
        assert bool(other) == (name in MEANT_OTHERWISE), other


def test_the_diff_of_a_hand_built_trace_names_place_and_price() -> None:
    (finding,), _ = find_hazards(sigmoid_trace())

    assert finding.diff == "@@ Cell In[7], line 6 @@\n-probs[2] = 2.0\n+probs = probs.clone()\n+probs[2] = 2.0"
    assert finding.price_bytes == 32


@pytest.mark.parametrize(
    ("write", "fixed"),
    [
        ("p += 1", "p = p + 1"),
        ("p -= a - b", "p = p - (a - b)"),
        ("p -= (a - b)", "p = p - (a - b)"),
        ("p += a * b  # decay", "p = p + a * b  # decay"),
        ("p *= a + b", "p = p * (a + b)"),
        ("p.mul_(2)", "p = p * 2"),
        ("p.mul_(a + b)", "p = p * (a + b)"),
        ("p.add_(a, alpha=2)", "p = p.add(a, alpha=2)"),
        ("p.sub_(a).abs_().clamp_(max=1)", "p = p.sub(a).abs().clamp(max=1)"),
        ("p.zero_()", "p = p.clone()\n+p.zero_()"),
        ("p.mul_(2).sub_(p)", "p = p.clone()\n+p.mul_(2).sub_(p)"),
        ("p[a > 0] = 0.0", "p = p.clone()\n+p[a > 0] = 0.0"),
    ],
)
def test_a_write_becomes_its_twin_that_gives_a_new_tensor(write: str, fixed: str, loaded_shell: Any) -> None:
    lines = ["import torch", "x = torch.ones(3, requires_grad=True)", "a, b = torch.ones(3), torch.ones(3)"]
    lines += ["p = torch.sigmoid(x)", write, "loss = p.sum()", "loss.backward()"]

    assert diff_of(loaded_shell, "\n".join(lines)) == f"-{write}\n+{fixed}"


def test_a_helper_that_is_called_for_its_effect_is_left_alone(loaded_shell: Any) -> None:
    found = diff_of(
        loaded_shell,
        """
        import torch
        def halve_(t):
            t.mul_(0.5)
            return t
        x = torch.ones(3, requires_grad=True)
        p = torch.sigmoid(x)
        halve_(p)
        p.sum().backward()
        """,
    )
    assert found == "-p = torch.sigmoid(x)\n+p = torch.sigmoid(x).clone()"


def test_a_captured_variable_is_not_made_local(loaded_shell: Any) -> None:
    found = diff_of(
        loaded_shell,
        """
        import torch
        def scaled(t):
            def scale():
                t.mul_(0.5)
                return t
            return scale
        x = torch.ones(3, requires_grad=True)
        p = torch.sigmoid(x)
        scaled(p)().sum().backward()
        """,
    )
    assert found == "-p = torch.sigmoid(x)\n+p = torch.sigmoid(x).clone()"


def test_a_line_with_two_statements_gets_no_copy_before_it(loaded_shell: Any) -> None:
    found = diff_of(
        loaded_shell,
        """
        import torch
        x = torch.ones(3, requires_grad=True)
        p = torch.sigmoid(x)
        n = 1; p[0] = n
        p.sum().backward()
        """,
    )
    assert found == "-p = torch.sigmoid(x)\n+p = torch.sigmoid(x).clone()"


def test_a_new_tensor_is_not_made_where_recording_is_off(loaded_shell: Any) -> None:
    found = diff_of(
        loaded_shell,
        """
        import torch
        x = torch.ones(3, requires_grad=True)
        p = torch.sigmoid(x)
        with torch.no_grad():
            p.mul_(0.5)
        p.sum().backward()
        """,
    )
    assert found == "-p = torch.sigmoid(x)\n+p = torch.sigmoid(x).clone()"


def test_a_step_that_came_before_its_own_backward_goes_below_it(loaded_shell: Any) -> None:
    found = diff_of(
        loaded_shell,
        """
        import torch
        net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Tanh(), torch.nn.Linear(2, 1))
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        for p in net.parameters():
            p.grad = torch.ones_like(p)
        loss = net(torch.ones(1, 2)).sum()
        optimizer.step()
        loss.backward()
        """,
    )
    assert found == "-optimizer.step()\n@@ Cell In[1], line 9 @@\n loss.backward()\n+optimizer.step()"


def test_a_leaf_whose_gradient_is_read_keeps_its_name(loaded_shell: Any) -> None:
    found = diff_of(
        loaded_shell,
        """
        import torch
        w = torch.ones(3, requires_grad=True)
        x = torch.ones(3, requires_grad=True)
        x += w
        x.sum().backward()
        print(x.grad)
        """,
    )
    assert found == ""


@pytest.mark.parametrize(
    ("made", "copied"),
    [
        (
            "rows, columns = torch.meshgrid(a, a, indexing='ij')",
            "rows, columns = tuple(each.clone() for each in torch.meshgrid(a, a, indexing='ij'))",
        ),
        (
            "rows, = torch.autograd.grad(w.sum(), w)",
            "rows, = tuple(each.clone() for each in torch.autograd.grad(w.sum(), w))",
        ),
        ("rows = a.expand(3, 3)", "rows = a.expand(3, 3).clone()"),
    ],
)
def test_of_a_call_that_gives_several_tensors_each_is_copied(made: str, copied: str, loaded_shell: Any) -> None:
    source = (
        f"import torch\na = torch.ones(3)\nw = torch.ones(3, 3, requires_grad=True)\n{made}\nrows[0, 1] = 2\nrows.sum()"
    )

    assert diff_of(loaded_shell, source) == f"-{made}\n+{copied}"


def test_an_array_is_copied_as_arrays_are_also_where_no_name_of_it_is_known(loaded_shell: Any) -> None:
    found = diff_of(
        loaded_shell,
        """
        import torch

        def show(signal):
            shown = signal.detach().numpy()
            shown[shown < 0.6] = 0.0
            return float(shown.max())

        x = torch.linspace(-1, 1, 5, requires_grad=True)
        output = torch.sigmoid(x)
        peak = show(output)
        output.sum().backward()
        """,
    )
    assert found == "-    shown[shown < 0.6] = 0.0\n+    shown = shown.copy()\n+    shown[shown < 0.6] = 0.0"


def test_a_lookup_that_shortens_is_given_a_copy_of_its_table(loaded_shell: Any) -> None:
    found = diff_of(
        loaded_shell,
        """
        import torch
        import torch.nn.functional as F
        table = torch.full((4, 3), 2.0)
        liked = F.embedding(torch.tensor([0, 2]), table, max_norm=1.0)
        scores = table @ liked.mean(dim=0)
        """,
    )
    assert found == (
        "-liked = F.embedding(torch.tensor([0, 2]), table, max_norm=1.0)\n"
        "+liked = F.embedding(torch.tensor([0, 2]), table.clone(), max_norm=1.0)"
    )


def test_a_hook_that_is_a_lambda_gives_a_new_gradient(loaded_shell: Any) -> None:
    found = diff_of(
        loaded_shell,
        """
        import torch
        a, b = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
        left, right = a * 2, b * 2
        right.register_hook(lambda grad: grad.mul_(0.1))
        (left + right).pow(2).sum().backward()
        """,
    )
    assert found == ("-right.register_hook(lambda grad: grad.mul_(0.1))\n+right.register_hook(lambda grad: grad * 0.1)")


def test_a_copy_into_parameters_goes_under_no_grad_although_it_reads_parameters(loaded_shell: Any) -> None:
    found = diff_of(
        loaded_shell,
        """
        import torch
        online, target = torch.nn.Linear(2, 1), torch.nn.Linear(2, 1)
        for old, new in zip(target.parameters(), online.parameters()):
            old.copy_(new)
        """,
    )
    assert found == "-    old.copy_(new)\n+    with torch.no_grad():\n+        old.copy_(new)"


def test_in_a_file_the_statement_alone_is_enough_for_its_twin(tmp_path: Path) -> None:
    ran = watched(
        tmp_path,
        """
        x = torch.ones(3, requires_grad=True)
        p = torch.sigmoid(x)
        p += 1
        try:
            p.sum().backward()
        except RuntimeError:
            pass
        """,
    )
    finding = ran.the("saved-tensor-overwritten")

    assert finding.mutation is not None
    assert finding.diff == f"@@ {finding.mutation.place} @@\n-    p += 1\n+    p = p + 1"
    lines = ran.path.read_text(encoding="utf-8").splitlines()
    assert patched(lines, [finding.diff])[finding.mutation.line - 1] == "    p = p + 1"


def test_a_fix_that_fails_leaves_the_finding_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("no fix")

    monkeypatch.setattr(Cures, "applied", broken)

    (finding,), faults = find_hazards(sigmoid_trace())

    assert finding.diff == ""
    assert faults == ("No fix for saved-tensor-overwritten (ZeroDivisionError: no fix). Please report it.",)


def test_a_saved_report_keeps_diff_and_price() -> None:
    report = Report.from_trace(sigmoid_trace())

    assert Report.from_json(report.to_json()).hazards == report.hazards
