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


class ClickCounter:
    def __init__(self, threshold):
        self.threshold = threshold
        self.waiting = queue.Queue()

    def callback(self, indata, start):
        self.waiting.put((start, torch.from_numpy(indata)))

    def drain(self):
        counts = {}
        last = False
        while not self.waiting.empty():
            start, block = self.waiting.get()
            loud = block.abs() > self.threshold
            before = torch.cat([torch.tensor([last]), loud[:-1]])
            counts[start] = int((loud & ~before).sum())
            last = bool(loud[-1])
        return counts


dice = np.random.default_rng(6)
sea = (0.1 * dice.normal(size=64 * 10)).astype(np.float32)
clicks = np.sort(dice.choice(np.arange(5, 635, 7), size=18, replace=False))
sea[clicks] += 2.0

counter = ClickCounter(threshold=1.0)
Hydrophone(sea, size=64).record(counter.callback)
counts = counter.drain()
print("clicks per block", counts)

expected = {64 * k: int(((clicks >= 64 * k) & (clicks < 64 * k + 64)).sum()) for k in range(10)}
SILENTLY_WRONG = counts != expected
