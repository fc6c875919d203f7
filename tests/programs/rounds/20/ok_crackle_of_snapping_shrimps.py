import queue

import numpy as np
import torch


class Hydrophone:
    """Calls back with one block after another, as a sound card driver does."""

    def __init__(self, sea, size):
        self.sea, self.size = sea, size
        self.block = np.empty(size, dtype=np.float32)

    def record(self, callback):
        for start in range(0, len(self.sea), self.size):
            self.block[:] = self.sea[start:start + self.size]
            callback(self.block, start)


class Crackle:
    def __init__(self, bands):
        self.bands = bands
        self.waiting = queue.Queue()
        self.loudest = torch.tensor(0.0)

    def callback(self, indata, start):
        block = torch.from_numpy(indata)
        power = torch.fft.rfft(block).abs().square()[1:]
        self.waiting.put((start, power.view(self.bands, -1).sum(dim=1)))
        torch.maximum(self.loudest, block.abs().max(), out=self.loudest)

    def drain(self):
        rows = []
        while not self.waiting.empty():
            rows.append(self.waiting.get())
        starts, powers = zip(*rows)
        return torch.tensor(starts), torch.stack(powers)


dice = np.random.default_rng(16)
sea = (0.1 * dice.normal(size=64 * 9)).astype(np.float32)
sea[dice.choice(64 * 9, size=40, replace=False)] += 1.5

crackle = Crackle(bands=4)
Hydrophone(sea, size=64).record(crackle.callback)
starts, powers = crackle.drain()
print("loudest", crackle.loudest.item(), "band power", powers.mean(dim=0).tolist())

expected = []
for k in range(9):
    spectrum = np.abs(np.fft.rfft(sea[64 * k:64 * k + 64].astype(np.float64))) ** 2
    expected.append([spectrum[1 + 8 * b:9 + 8 * b].sum() for b in range(4)])
right = torch.allclose(powers.double(), torch.tensor(np.array(expected)), rtol=1e-3)
SILENTLY_WRONG = not (right and starts.tolist() == [64 * k for k in range(9)]
                      and abs(crackle.loudest.item() - np.abs(sea).max()) < 1e-6)
