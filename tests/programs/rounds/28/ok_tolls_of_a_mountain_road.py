import torch


class TollTable:
    """Tolls by gate and kind of car."""

    def __init__(self, common, gates):
        self.tolls = common.expand(gates, -1).clone()

    def add_surcharges(self, surcharges):
        for toll, extra in zip(self.tolls, surcharges, strict=True):
            toll += extra

    def takings(self, passed):
        return (self.tolls * passed).sum(dim=1)


common = torch.tensor([3.0, 8.0])
table = TollTable(common, gates=3)
surcharges = torch.tensor([[0.0, 0.0], [0.5, 1.0], [1.5, 4.0]])
table.add_surcharges(surcharges)
passed = torch.tensor([[200.0, 31.0], [150.0, 28.0], [80.0, 4.0]])
takings = table.takings(passed)
print("takings", takings.tolist())

expected = [sum((common[c] + surcharges[k, c]) * passed[k, c] for c in range(2)) for k in range(3)]
SILENTLY_WRONG = not torch.allclose(takings, torch.stack(expected), atol=1e-3)
