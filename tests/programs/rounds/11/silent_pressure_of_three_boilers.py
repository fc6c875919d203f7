from dataclasses import dataclass

import torch


@dataclass
class Filter:
    gain: float
    level: torch.Tensor = torch.zeros(2)
    seen: int = 0

    def push(self, reading):
        self.level.lerp_(reading, self.gain)
        self.seen += 1
        return self.level


def monitor(readings, gains):
    filters = {name: Filter(gain) for name, gain in gains.items()}
    alarms = []
    for step in range(readings["north"].shape[0]):
        for name, unit in filters.items():
            level = unit.push(readings[name][step])
            if float(level.sum()) > 2.5:
                alarms.append((step, name))
    return {name: unit.level for name, unit in filters.items()}, alarms


torch.manual_seed(8)
gains = {"north": 0.5, "south": 0.2, "old": 0.1}
readings = {name: torch.rand(40, 2) + k for k, name in enumerate(gains)}
levels, alarms = monitor(readings, gains)

correct = True
for name, gain in gains.items():
    level = torch.zeros(2)
    for row in readings[name]:
        level = (1 - gain) * level + gain * row
    correct = correct and torch.allclose(levels[name], level, atol=1e-5)
SILENTLY_WRONG = not correct
