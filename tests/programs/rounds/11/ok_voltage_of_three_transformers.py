from dataclasses import dataclass, field

import torch


@dataclass
class Filter:
    gain: float
    level: torch.Tensor = field(default_factory=lambda: torch.zeros(2))
    peak: torch.Tensor = field(default_factory=lambda: torch.full((2,), -1e9))

    def push(self, reading):
        self.level.lerp_(reading, self.gain)
        torch.maximum(self.peak, self.level, out=self.peak)
        return self.level


def monitor(readings, gains):
    filters = {name: Filter(gain) for name, gain in gains.items()}
    alarms = []
    for step in range(readings["hill"].shape[0]):
        for name, unit in filters.items():
            if float(unit.push(readings[name][step]).sum()) > 2.5:
                alarms.append((step, name))
    return filters, alarms


torch.manual_seed(80)
gains = {"hill": 0.5, "port": 0.2, "mill": 0.1}
readings = {name: torch.rand(30, 2) + k for k, name in enumerate(gains)}
filters, alarms = monitor(readings, gains)

correct = True
for name, gain in gains.items():
    levels = [torch.zeros(2)]
    for row in readings[name]:
        levels.append((1 - gain) * levels[-1] + gain * row)
    correct = correct and torch.allclose(filters[name].level, levels[-1], atol=1e-5)
    correct = correct and torch.allclose(filters[name].peak, torch.stack(levels[1:]).amax(0), atol=1e-5)
SILENTLY_WRONG = not correct
