import warnings

import torch

warnings.filterwarnings("ignore", category=UserWarning)
HOURS = 24


class PowerTable:
    def __init__(self, gauges):
        self.names = list(gauges)
        self.table = torch.zeros(len(self.names), HOURS)

    def arrive(self, name, record):
        row = self.table[self.names.index(name)]
        torch.square(record - record.mean(), out=row)

    def hourly(self):
        return dict(zip(self.names, self.table.sum(dim=1).tolist()))


def records(seed):
    generator = torch.Generator().manual_seed(seed)
    lengths = {"weir": 24, "mill": 24, "bridge": 24, "lock": 24, "ford": 30}
    return {name: torch.randn(n, generator=generator) + 2 for name, n in lengths.items()}


received = records(918)
gauges = ["weir", "ford", "mill", "bridge", "lock"]
power = PowerTable(gauges)
for name, record in received.items():
    power.arrive(name, record)
found = power.hourly()

expected = {}
for name in gauges:
    values = received[name].tolist()
    mean = sum(values) / len(values)
    expected[name] = sum((value - mean) ** 2 for value in values[:HOURS])
SILENTLY_WRONG = any(abs(found[name] - expected[name]) > 1e-2 for name in gauges)
