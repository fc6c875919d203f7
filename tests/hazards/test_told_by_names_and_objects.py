"""What rules tell by names and objects: which name held a tensor, whose method wrote it, who was handed it."""

from __future__ import annotations

from pathlib import Path

from hazards.running import plainly, watched

from inplace_magic.hazards.handed import argument_written
from inplace_magic.hazards.shared import objects_share_state


def test_copies_of_an_object_that_no_name_leads_to_are_told_apart_by_whose_method_wrote(tmp_path: Path) -> None:
    program = """
    import copy
    class Stepper:
        def __init__(self):
            self.width = torch.full((2,), 2.0)
        def tune(self, factor):
            self.width *= factor
            return self.width.sum().item()
    def sample(stepper):
        steppers = [COPIED(stepper) for _ in range(3)]
        return [each.tune(2.0) for each in steppers]
    widths = sample(Stepper())
    """
    shallow, deep = (program.replace("COPIED", name) for name in ("copy.copy", "copy.deepcopy"))
    assert plainly(tmp_path, shallow).names["widths"] == [8.0, 16.0, 32.0], "PyTorch alone widens the steps of all"
    finding = watched(tmp_path, shallow).the(objects_share_state.CODE)
    assert finding.mutation is not None
    assert finding.mutation.statement == "self.width *= factor"
    assert watched(tmp_path, deep).codes() == set()


def test_what_a_method_is_handed_to_compare_is_known_by_its_callers_name(tmp_path: Path) -> None:
    program = """
    class Centres:
        def __init__(self):
            self.places = torch.zeros(2)
        def moved(self, past):
            return (self.places - past).norm().item()
        def fit(self):
            past = self.places
            self.places[0] = 3.0
            return self.moved(past)
    shift = Centres().fit()
    """
    assert plainly(tmp_path, program).names["shift"] == 0.0, "PyTorch alone compares the tensor with itself"
    finding = watched(tmp_path, program).the("same-memory-compared")
    assert finding.mutation is not None
    assert finding.mutation.statement == "self.places[0] = 3.0"
    assert watched(tmp_path, program.replace("past = self.places", "past = self.places.clone()")).codes() == set()


def test_what_is_handed_over_by_detach_is_no_copy_though_it_happens_again_and_again(tmp_path: Path) -> None:
    program = """
    def preview(picture):
        for channel in picture:
            channel.mul_(0.5)
        return picture.clamp(0, 1)
    picture, shown = torch.arange(6.0).reshape(2, 3).requires_grad_(), []
    for _ in range(3):
        with torch.no_grad():
            loss = picture.square().sum()
        shown.append(preview(picture.detach()))
    """
    assert plainly(tmp_path, program).names["loss"].item() == 55 * 0.25**2, "PyTorch alone scales what is trained"
    finding = watched(tmp_path, program).the(argument_written.CODE)
    assert finding.mutation is not None
    assert finding.mutation.statement == "channel.mul_(0.5)"
    assert watched(tmp_path, program.replace("detach()", "detach().clone()")).codes() == set()


def test_layers_loaded_in_a_constructor_are_drawn_anew_by_its_initialiser(tmp_path: Path) -> None:
    program = """
    nn = torch.nn
    class Net(nn.Module):
        def __init__(self, stored):
            super().__init__()
            self.trunk, self.head = nn.Linear(2, 2), nn.Linear(2, 1)
            self.trunk.load_state_dict(stored)
            self.apply(self.drawn)
        def drawn(self, layer):
            if isinstance(layer, nn.Linear):
                nn.init.xavier_uniform_(layer.weight)
                nn.init.zeros_(layer.bias)
        def forward(self, x):
            return self.head(self.trunk(x))
    stored = {"weight": torch.ones(2, 2), "bias": torch.ones(2)}
    out = Net(stored)(torch.ones(1, 2))
    """
    found = [finding for finding in watched(tmp_path, program).report.hazards if finding.code == "overwritten-unread"]
    places = [finding.mutation.statement for finding in found if finding.mutation is not None]
    assert places == ["nn.init.xavier_uniform_(layer.weight)", "nn.init.zeros_(layer.bias)"]


def test_a_row_of_zeros_for_padding_that_an_initialiser_draws_over_is_called_that(tmp_path: Path) -> None:
    program = """
    embed = nn.Embedding(6, 4, padding_idx=0)
    nn.init.normal_(embed.weight, std=0.1)
    embed(torch.tensor([[1, 2, 0]])).sum().backward()
    """
    finding = watched(tmp_path, program).the("overwritten-unread")
    assert "draws all of `embed.weight` anew, also the part that" in finding.message
    assert "weight[padding_idx] = 0" in finding.fix
    mended = program.replace("std=0.1)\n", "std=0.1)\n    with torch.no_grad(): embed.weight[embed.padding_idx] = 0\n")
    assert watched(tmp_path, mended).codes() == set()
