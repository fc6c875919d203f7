"""How the user's variables are called does not matter: the same program under other names has the same findings."""

from __future__ import annotations

import ast
import textwrap
from itertools import product
from pathlib import Path
from string import ascii_lowercase
from typing import Any

import pytest
from hazards.both_ways import told
from hazards.running import watched
from programs import score

from inplace_magic.hazards.handed import argument_written
from inplace_magic.hazards.shared import copy_shares_parameters
from inplace_magic.hazards.stale import alias_written, initial_value_written, results_share_memory

FOLDER = Path(__file__).parents[1] / "programs"
RULES = {
    rule.CODE
    for rule in (alias_written, argument_written, copy_shares_parameters, initial_value_written, results_share_memory)
}
FOUND = {
    "argument-written": """
        silent_denormalise_helper_edits_batch silent_q_sample_edits_x_start silent_random_erasing_on_a_crop_view
        silent_top_k_filter_edits_policy_logits
    """,
    "alias-written": """
        silent_labels_alias_input_ids silent_adversarial_start_is_the_clean_batch
        silent_boxes_centre_shifted_by_constructor silent_cpu_copy_is_no_copy
        silent_first_loss_becomes_the_total silent_jacobi_sweep_becomes_gauss_seidel
        silent_leading_relu_in_residual_branch silent_mlm_labels_are_the_masked_inputs silent_moments_share_one_tensor
        silent_preview_scales_the_prediction silent_pyramid_sum_rewrites_the_first_level
        silent_shared_input_dropped_in_place
        silent_transposed_in_place_under_both_names
        silent_two_branches_of_inplace_relu silent_update_is_the_momentum_buffer
    """,
    "copy-shares-parameters": """
        silent_agents_target_is_its_online_network silent_best_module_is_the_module
        silent_data_assigned_from_another_network silent_load_state_dict_assigns_the_live_weights
        silent_shallow_target_follows_online silent_teacher_is_a_shallow_copy silent_two_parameters_on_one_tensor
    """,
    "initial-value-written": """
        silent_cached_mask_edited_by_one_caller silent_initial_state_carried_over
    """,
    "results-share-memory": """
        silent_gradient_read_after_it_was_cleared silent_gradients_kept_then_zeroed
        silent_module_returns_its_scratch_buffer silent_out_buffer_holds_both_products
    """,
}
"""The labelled programs that each rule finds."""
QUIET = [
    "ok_best_model_deep_copied_after_a_first_alias",
    "ok_best_model_named_after_training",
    "ok_global_counters_under_a_local_name",
    "ok_gradients_listed_and_then_clipped",
    "ok_handles_of_gradients_zeroed_and_filled",
    "ok_local_name_for_a_buffer",
    "ok_state_begins_as_a_copy_of_the_initial_one",
    "ok_weights_swapped_for_evaluation",
]
NEUTRAL = tuple(ascii_lowercase)
LOADED = ("target", "old", "h0", "raw", "teacher", "BEST", "init", "before", "prev", "SNAPSHOT", "ema", "kept")


def source_of(name: str) -> str:
    try:
        return score.source_of(score.packed.FURTHER, name)
    except KeyError:
        return score.source_of(score.packed.FIRST, name)


def renamed(source: str, names: tuple[str, ...]) -> str:
    """The program with other names for its variables, its parameters and the attributes that its classes bind; what a
    call says by keyword keeps its name."""
    tree = ast.parse(source)
    nodes = list(ast.walk(tree))
    kept = {"self", "ctx", *(node.arg for node in nodes if isinstance(node, ast.keyword))}
    own = {ast.unparse(node) for node in nodes if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)}
    bound = [node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    bound += [node.arg for node in nodes if isinstance(node, ast.arg)]
    bound += [path.removeprefix("self.") for path in sorted(own) if path.count(".") == 1 and path.startswith("self.")]
    used = {node.id for node in nodes if isinstance(node, ast.Name)}
    fresh = (f"{name}{number or ''}" for number, name in product(range(99), names))
    free = (name for name in fresh if name not in used)
    new = {name: next(free) for name in dict.fromkeys(bound) if name not in kept}
    for node in nodes:
        if isinstance(node, ast.Name):
            node.id = new.get(node.id, node.id)
        elif isinstance(node, ast.arg):
            node.arg = new.get(node.arg, node.arg)
        elif isinstance(node, ast.Attribute) and f"self.{node.attr}" in own:
            node.attr = new.get(node.attr, node.attr)
    return ast.unparse(tree)


def findings(folder: Path, program: str) -> list[tuple[str, str, int | None, int | None]]:
    """(code, severity, line that writes, line that reads) of the four rules' findings."""
    report = watched(folder, program).report
    lines = [(h, *(site.line if site is not None else None for site in (h.mutation, h.read))) for h in report.hazards]
    return [(h.code, h.severity, write, read) for h, write, read in lines if h.code in RULES]


@pytest.mark.parametrize(("code", "name"), [(code, name) for code, names in FOUND.items() for name in names.split()])
def test_the_findings_are_the_same_under_neutral_names(code: str, name: str, tmp_path: Path) -> None:
    source = source_of(name)
    found = findings(tmp_path, ast.unparse(ast.parse(source)))
    assert code in {each[0] for each in found}
    assert findings(tmp_path, renamed(source, NEUTRAL)) == found


@pytest.mark.parametrize("attribute", ["mean", "t", "data", "view"])
def test_an_attribute_that_is_called_like_one_of_a_tensor_is_found_and_named_as_any_other(
    attribute: str, tmp_path: Path
) -> None:
    program = f"""
        class Running:
            {attribute} = torch.zeros(2)
            def update(self, x):
                self.{attribute} += 0.5 * (x - self.{attribute})
                return self.{attribute}
        one, other = Running(), Running()
        one.update(torch.ones(2))
        print(other.update(torch.ones(2)).sum())
    """
    (finding,) = watched(tmp_path, textwrap.dedent(program)).report.hazards
    assert (finding.code, finding.variable) == ("class-attribute-written", f"self.{attribute}")


@pytest.mark.parametrize("name", QUIET)
def test_a_healthy_program_is_quiet_whatever_its_names_say(name: str, tmp_path: Path) -> None:
    ran = watched(tmp_path, renamed(source_of(name), LOADED))
    assert ran.error is None
    assert [hazard.code for hazard in ran.report.hazards] == []


HEALTHY = {
    "a_second_name_of_one_network_is_trained_and_run": """
        def main():
            model = nn.Linear(2, 1)
            best = model
            opt = torch.optim.SGD(model.parameters(), .1)
            for _ in range(3):
                opt.zero_grad()
                best(torch.ones(4, 2)).square().mean().backward()
                opt.step()
            return best(torch.ones(1, 2))
        main()
    """,
    "a_condition_chooses_which_network_is_trained": """
        generator, critic = nn.Linear(2, 2), nn.Linear(2, 2)
        steps = [torch.optim.SGD(net.parameters(), .1) for net in (generator, critic)]
        for step in range(4):
            if step % 2:
                net = generator
            else:
                net = critic
            for opt in steps:
                opt.zero_grad()
            net(torch.ones(4, 2)).square().mean().backward()
            steps[step % 2 == 0].step()
        total = net(torch.ones(1, 2))
    """,
    "a_second_name_is_given_when_it_is_first_needed": """
        model, best = nn.Linear(2, 1), None
        opt = torch.optim.SGD(model.parameters(), .1)
        for _ in range(3):
            if best is None:
                best = model
            opt.zero_grad()
            model(torch.ones(4, 2)).square().mean().backward()
            opt.step()
        best(torch.ones(1, 2))
    """,
    "two_layers_on_one_memory_are_tied_and_only_one_is_stepped": """
        one, two = nn.Linear(3, 3, bias=False), nn.Linear(3, 3, bias=False)
        two.weight.data = one.weight.data
        opt = torch.optim.SGD(one.parameters(), .1)
        for _ in range(3):
            opt.zero_grad()
            two(one(torch.ones(2, 3))).square().mean().backward()
            opt.step()
    """,
    "a_buffer_is_cleared_and_used_again_in_each_round": """
        buffer, sums = torch.zeros(3), []
        for batch in torch.ones(4, 2, 3):
            out = buffer
            out.zero_()
            for row in batch:
                out += row
            sums.append(out.sum().item())
        assert sums == [6.0] * 4
    """,
    "a_total_has_a_short_name_and_is_read_after_the_loop": """
        totals_of_all_batches, seen = torch.ones(3), []
        for batch in torch.ones(4, 3):
            t = totals_of_all_batches
            t += batch
            seen.append(t.sum().item())
        assert totals_of_all_batches.sum() == 15
    """,
    "a_state_of_an_object_has_a_short_name": """
        class Cache:
            def __init__(self):
                self.rows = torch.arange(6.0)
            def put(self, x):
                old = self.rows
                self.rows.mul_(x)
                return old.sum()
        Cache().put(torch.tensor(2.0))
    """,
}


@pytest.mark.parametrize("name", HEALTHY)
def test_nobody_is_accused_where(name: str, loaded_shell: Any, tmp_path: Path) -> None:
    ran = told(loaded_shell, tmp_path, HEALTHY[name])
    assert ran.plain is None
    assert ran.alarms == [[], []], [report.to_text() for report in ran.reports]


WRONG = {
    "a_network_is_held_against_itself_by_two_names": (
        """
        def main():
            b = nn.Linear(2, 1)
            a = b
            opt = torch.optim.SGD(b.parameters(), .1)
            for _ in range(3):
                with torch.no_grad():
                    c = a(torch.ones(4, 2)) + 1
                loss = (b(torch.ones(4, 2)) - c).square().mean()
                opt.zero_grad()
                loss.backward()
                opt.step()
        main()
        """,
        ("copy-shares-parameters", "opt.step()"),
    ),
    "an_attribute_is_a_shallow_copy": (
        """
        class Agent:
            def __init__(self):
                self.a = nn.Linear(2, 1)
                self.b = copy.copy(self.a)
                self.opt = torch.optim.SGD(self.a.parameters(), .1)
            def learn(self, x):
                y = self.b(x).detach()
                self.opt.zero_grad()
                (self.a(x) - y - 1).square().mean().backward()
                self.opt.step()
        def main():
            agent = Agent()
            for _ in range(2):
                agent.learn(torch.ones(4, 2))
        main()
        """,
        ("copy-shares-parameters", "self.opt.step()"),
    ),
    "what_an_object_keeps_is_compared_with_what_it_kept": (
        """
        class Centre:
            def __init__(self):
                self.c = torch.ones(3) * 1
            def moved(self, x):
                a = self.c
                self.c.add_(x)
                return (self.c - a).norm()
        assert Centre().moved(torch.ones(3)) == 0
        """,
        ("same-memory-compared", "self.c.add_(x)"),
    ),
    "a_loop_in_a_function_begins_with_its_parameter": (
        """
        def scan(a, xs):
            out = []
            for x in xs:
                b = a
                for row in x:
                    b += row
                out.append(b.sum())
            return out
        scan(torch.zeros(3) + 0, torch.ones(3, 2, 3))
        """,
        ("initial-value-written", "b += row"),
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_it_is_found_where(name: str, loaded_shell: Any, tmp_path: Path) -> None:
    program, finding = WRONG[name]
    ran = told(loaded_shell, tmp_path, program)
    assert ran.plain is None, "PyTorch says nothing"
    assert ran.alarms == [[finding], [finding]], [report.to_text() for report in ran.reports]
