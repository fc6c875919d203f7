"""A parameter that an optimizer holds and that never gets a gradient is told with the line that cut it off, and where
nothing cut it off, or somebody meant it, nothing is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hazards.both_ways import told
from hazards.running import example, watched

CODE = "parameter-without-gradient"
NETWORKS = """
encoder, decoder, x = nn.Linear(3, 4), nn.Linear(4, 1), torch.randn(5, 3)
both = torch.optim.SGD([*encoder.parameters(), *decoder.parameters()], lr=0.1)
"""
TRAINED = "\nloss = decoder(given).pow(2).mean()\nboth.zero_grad()\nloss.backward()\nboth.step()\n"


@pytest.mark.parametrize(
    ("program", "line", "cure"),
    [
        ("given = encoder(x).detach()", "given = encoder(x).detach()", "requires_grad_(False)"),
        ("h = encoder(x)\ngiven = h.data", "given = h.data", "`.data`"),
        ("h = encoder(x)\nwith torch.no_grad():\n    given = torch.relu(h)", "given = torch.relu(h)", "no_grad"),
        ("h = encoder(x)\ngiven = torch.tensor(h)", "given = torch.tensor(h)", "torch.stack"),
        ("h = encoder(x)\ngiven = torch.tensor(h.tolist())", "given = torch.tensor(h.tolist())", "torch.stack"),
        ("mean = encoder(x).mean().item()\ngiven = torch.full((5, 4), mean)", "mean = encoder(x).mean().item()", "cat"),
        ("h = encoder(x)\na = h.detach()\ngiven = torch.from_numpy(a.numpy())", "a = h.detach()", "detach()"),
        ("given = (encoder(x) > 0).float()", "given = (encoder(x) > 0).float()", "derivative"),
    ],
)
def test_the_line_that_cut_it_off_is_named(
    loaded_shell: Any, tmp_path: Path, program: str, line: str, cure: str
) -> None:
    ran = told(loaded_shell, tmp_path, NETWORKS + program + TRAINED)

    assert ran.plain is None
    assert ran.names["encoder"].weight.grad is None  # PyTorch is silent, and nothing was trained
    assert ran.blamed(CODE) == {line}
    for finding in ran.the(CODE):
        assert finding.severity == "warning"
        assert "does not move `encoder.bias` and 1 more" in finding.message
        assert cure in finding.fix


def test_an_optimizer_of_its_own_that_never_moves_anything_is_told(loaded_shell: Any, tmp_path: Path) -> None:
    own = "own, rest = (torch.optim.SGD(net.parameters(), lr=0.1) for net in (encoder, decoder))\n"
    cut = "with torch.no_grad():\n    given = encoder(x)\nloss = decoder(given).sum()\nloss.backward()\n"
    ran = told(loaded_shell, tmp_path, NETWORKS + own + cut + "own.step()\nrest.step()\n")

    assert ran.blamed(CODE) == {"given = encoder(x)"}


def test_an_optimizer_made_in_the_place_of_a_gone_one_is_looked_at_as_its_own(tmp_path: Path) -> None:
    """Python gives its `id` again: the gone one left out nothing at its first step, and this one does."""
    program = """
        import gc
        decoder(torch.randn(5, 4)).sum().backward()
        rest = [torch.optim.SGD(decoder.parameters(), lr=0.1) for _ in range(200)]
        for each in rest:
            each.step()
        gone, kept = set(map(id, rest)), [both]
        del rest, each
        gc.collect()
        while id(both) not in gone and len(kept) < 500_000:
            both = torch.optim.SGD.__new__(torch.optim.SGD)
            kept.append(both)
        both.__init__([*encoder.parameters(), *decoder.parameters()], lr=0.1)
        given = encoder(x).detach()
        """
    ran = watched(tmp_path, NETWORKS, program, TRAINED)

    assert id(ran.names["both"]) in ran.names["gone"]
    assert ran.at(ran.the(CODE).mutation) == "given = encoder(x).detach()"


def test_a_result_that_is_detached_for_another_network_first_is_no_cut(loaded_shell: Any, tmp_path: Path) -> None:
    own = "of_g, of_d = (torch.optim.SGD(net.parameters(), lr=0.1) for net in (encoder, decoder))\n"
    of_critic = "fake = encoder(x)\ndecoder(fake.detach()).sum().backward()\nof_d.step()\nof_g.zero_grad()\n"
    ran = told(
        loaded_shell,
        tmp_path,
        NETWORKS + own + of_critic + "score = decoder(fake.detach())\nscore.sum().backward()\nof_g.step()\n",
    )

    assert ran.blamed("step-without-gradients") == {"score = decoder(fake.detach())"}, "nothing moves: the worse card"


def test_the_pages_good_program_is_left_alone(tmp_path: Path) -> None:
    names = NETWORKS + "optimizer_of_both = both\n"

    assert CODE in watched(tmp_path, names, example(CODE, "Bad")).codes()
    assert CODE not in watched(tmp_path, names, example(CODE, "Good")).codes()


@pytest.mark.parametrize(
    "healthy",
    [
        "given = torch.randn(5, 4)",  # not used
        "spare = encoder(x)\ngiven = torch.randn(5, 4)",  # used for nothing
        "shown = encoder(x).mean().item()\ngiven = torch.randn(5, 4)",  # a number that is only shown
        "with torch.no_grad():\n    given = encoder(x)",  # features of a part that is not to be trained
        "encoder.requires_grad_(False)\ngiven = encoder(x)",
        "for p in encoder.parameters():\n    p.requires_grad = False\ngiven = encoder(x)",
        "given = encoder(x).detach()\nfor name in ('weight', 'bias'):\n"
        "    setattr(encoder, name, nn.Parameter(0.9 * getattr(encoder, name)))",  # a table that is made anew
        "h = encoder(x)\nhard = (h > 0).float()\ngiven = hard + h - h.detach()",  # straight through
        "decoder(encoder(x).detach()).sum().backward()\nboth.step()\ngiven = encoder(x)",  # a later phase
        "h = encoder(x)\nd = h.detach().requires_grad_()\ndecoder(d).sum().backward()\nboth.step()\n"
        "h.backward(d.grad)\ngiven = torch.ones(5, 4)",  # by hand
        "twin = copy.deepcopy(encoder)\nboth.add_param_group({'params': [*twin.parameters()]})\n"
        "given = encoder(x) + twin(x).detach()",  # a target network
        "given = encoder(x).detach()\ndecoder(given).sum().backward()\nboth.step()\n"
        "with torch.no_grad():\n    for p in encoder.parameters():\n        p.mul_(0.9)",  # a moving average
        "given = encoder(x).detach()\ngiven = torch.randn(5, 4).copy_(torch.ones(5, 4))",
    ],
)
def test_what_is_meant_is_left_alone(healthy: str, tmp_path: Path) -> None:
    ran = watched(tmp_path, NETWORKS, healthy + TRAINED)

    assert ran.error is None
    assert CODE not in ran.codes()
