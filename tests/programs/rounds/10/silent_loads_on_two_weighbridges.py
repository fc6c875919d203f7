import torch


class AxleTally:
    total = torch.zeros(4, dtype=torch.float64)
    lorries = 0

    def weigh(self, axles):
        self.total += axles
        self.lorries += 1

    def mean(self):
        return self.total / self.lorries


class Weighbridge:
    def __init__(self, name, offset):
        self.name = name
        self.offset = offset
        self.tally = AxleTally()

    def pass_over(self, axles):
        self.tally.weigh(axles.double() - self.offset)

    def report(self):
        return {"name": self.name, "lorries": self.tally.lorries, "axles": self.tally.mean()}


def day(bridges, traffic):
    for number, axles in enumerate(traffic):
        bridges[0 if number % 3 else 1].pass_over(axles)
    return [bridge.report() for bridge in bridges]


torch.manual_seed(31)
traffic = 5 + 3 * torch.rand(50, 4)
reports = day([Weighbridge("north", 0.1), Weighbridge("south", 0.3)], traffic)

third = torch.arange(50) % 3 == 0
expected = [traffic[~third].double().mean(dim=0) - 0.1, traffic[third].double().mean(dim=0) - 0.3]
SILENTLY_WRONG = any(not torch.allclose(report["axles"], right) for report, right in zip(reports, expected))
