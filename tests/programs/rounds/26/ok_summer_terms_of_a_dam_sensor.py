import torch
import torch.nn as nn


class SeasonalLinear(nn.Module):
    """Linear layer with additional terms that can be merged into its weight and taken out again."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.base = nn.Linear(inputs, outputs).double()
        self.terms = {}
        self.merged = set()

    def add_season(self, season, rank=1):
        down = torch.randn(rank, self.base.in_features, dtype=torch.float64)
        up = torch.randn(self.base.out_features, rank, dtype=torch.float64)
        self.terms[season] = (up, down)

    @torch.no_grad()
    def merge(self, season):
        if season not in self.merged:
            up, down = self.terms[season]
            self.base.weight += up @ down
            self.merged.add(season)

    @torch.no_grad()
    def take_out(self, season):
        if season in self.merged:
            up, down = self.terms[season]
            self.base.weight -= up @ down
            self.merged.remove(season)


def seepage(layer, season, readings):
    layer.merge(season)
    with torch.no_grad():
        return layer.base(readings).mean(dim=0)


torch.manual_seed(39)
layer = SeasonalLinear(5, 3)
layer.add_season("summer")
layer.add_season("drought")
plain = layer.base.weight.detach().clone()
weeks = torch.randn(4, 30, 5, dtype=torch.float64)
flows = [seepage(layer, "summer", readings) for readings in weeks]
flows.append(seepage(layer, "drought", weeks[0]))
layer.take_out("summer")
flows.append(seepage(layer, "drought", weeks[1]))
print("seepage", [flow.tolist() for flow in flows[-2:]])

summer, drought = (up @ down for up, down in layer.terms.values())
weights = [plain + summer] * 4 + [plain + summer + drought, plain + drought]
inputs = [*weeks, weeks[0], weeks[1]]
expected = [x.mean(dim=0) @ w.T + layer.base.bias for x, w in zip(inputs, weights)]
SILENTLY_WRONG = not torch.allclose(torch.stack(flows), torch.stack(expected))
