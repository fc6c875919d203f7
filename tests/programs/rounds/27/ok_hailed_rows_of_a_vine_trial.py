from dataclasses import dataclass

import torch

SUGAR, ACID, WEIGHT = 0, 1, 2


@dataclass
class Vines:
    rows: torch.Tensor

    def after_hail(self, hit):
        self.rows[hit, WEIGHT] = 0.0
        return self

    def thin_out(self, heavy):
        column = self.rows[:, WEIGHT]
        column[column > heavy] = heavy
        return self


torch.manual_seed(22)
rows = torch.stack([20 + torch.randn(30), 6 + torch.rand(30), 3 + 1.5 * torch.randn(30).abs()], dim=1)
hit = torch.rand(30) < 0.3
vines = Vines(rows.clone()).after_hail(hit).thin_out(heavy=4.5)
must = (vines.rows[:, WEIGHT] * vines.rows[:, SUGAR]).sum() / 100
print("sugar in the must", round(float(must), 3), "rows hit", int(hit.sum()))

expected = 0.0
for i, (sugar, _, weight) in enumerate(rows.tolist()):
    if not bool(hit[i]):
        expected += min(weight, 4.5) * sugar / 100
SILENTLY_WRONG = abs(float(must) - expected) > 1e-3
