from dataclasses import dataclass

import torch

YIELD, MOISTURE, WEEDS = 0, 1, 2


@dataclass
class Trial:
    plots: torch.Tensor
    variety: torch.Tensor

    def without_harvest(self, drowned):
        """Plots that stood under water gave no grain."""
        self.plots[drowned][:, YIELD] = 0.0
        return self

    def by_variety(self, count):
        total = torch.zeros(count).index_add(0, self.variety, self.plots[:, YIELD])
        size = torch.bincount(self.variety, minlength=count)
        return total / size


torch.manual_seed(12)
plots = torch.stack([
    4.5 + torch.randn(24),
    16 + 2 * torch.randn(24),
    torch.rand(24),
], dim=1)
variety = torch.arange(24) % 4
water_days = torch.randint(0, 20, (24,))

trial = Trial(plots.clone(), variety)
trial.without_harvest(water_days > 13)
means = trial.by_variety(4)
print("mean yield", [round(m, 2) for m in means.tolist()], "best variety", int(means.argmax()))

expected = []
for v in range(4):
    grain = [0.0 if water_days[i] > 13 else float(plots[i, 0]) for i in range(24) if variety[i] == v]
    expected.append(sum(grain) / len(grain))
SILENTLY_WRONG = not torch.allclose(means, torch.tensor(expected), atol=1e-4)
