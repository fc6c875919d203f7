from dataclasses import dataclass, field

import numpy as np
import torch


@dataclass
class Logger:
    spans: int
    rows: list = field(default_factory=list)

    def record(self, readings):
        self.rows.append(readings)

    def table(self):
        return np.stack(self.rows)


class Modes:
    def __init__(self, table):
        self.signal = torch.from_dlpack(table)

    def prepare(self):
        self.signal.sub_(self.signal.mean(dim=0))
        self.signal.mul_(torch.hann_window(len(self.signal), periodic=False, dtype=torch.float64)[:, None])
        return self

    def strongest(self):
        return torch.fft.rfft(self.signal, dim=0).abs()[1:].argmax(dim=0) + 1


def inspect(logger, allowed):
    table = logger.table()
    modes = Modes(table).prepare().strongest()
    return modes, table.max(axis=0), (table > allowed).sum(axis=0)


generator, logger, kept = np.random.default_rng(8), Logger(4), []
for hour in range(48):
    base = 40 + 5 * np.sin(2 * np.pi * hour * np.arange(1, 5) / 48)
    readings = base + generator.normal(0, 0.5, 4)
    logger.record(readings)
    kept.append(readings.tolist())
modes, peaks, alarms = inspect(logger, allowed=43.0)

expected = torch.tensor(kept, dtype=torch.float64).amax(dim=0)
SILENTLY_WRONG = not torch.allclose(torch.tensor(peaks), expected)
