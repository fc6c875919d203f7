import torch


class FareTable:
    """Fares by station and kind of ticket: a common fare and what each station adds."""

    def __init__(self, common, stations):
        self.stations = stations
        self.fares = torch.as_tensor(common).expand(len(stations), -1)

    def add_surcharges(self, surcharges):
        for fare, extra in zip(self.fares, surcharges, strict=True):
            fare += extra

    def round_up(self, step=0.5):
        self.fares = (self.fares / step).ceil() * step

    def takings(self, sold):
        return (self.fares * sold).sum(dim=1)


stations = ["valley", "chapel", "pasture", "glacier"]
common = torch.tensor([4.0, 2.5, 11.0])
table = FareTable(common.clone(), stations)
surcharges = torch.tensor([[0.0, 0.0, 0.0], [1.2, 0.6, 2.0], [2.4, 1.1, 5.0], [4.1, 2.3, 9.0]])
table.add_surcharges(surcharges)
table.round_up()
sold = torch.tensor([[120.0, 40.0, 3.0], [15.0, 6.0, 0.0], [60.0, 22.0, 1.0], [88.0, 51.0, 7.0]])
takings = table.takings(sold)
for station, money in zip(stations, takings.tolist(), strict=True):
    print(f"{station:10} {money:9.2f}")

expected = []
for k in range(len(stations)):
    fare = torch.ceil((common + surcharges[k]) * 2) / 2
    expected.append(fare @ sold[k])
SILENTLY_WRONG = not torch.allclose(takings, torch.stack(expected), atol=1e-3)
