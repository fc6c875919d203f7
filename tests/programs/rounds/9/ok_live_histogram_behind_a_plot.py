import numpy as np
import torch


class LiveHistogram:
    def __init__(self, bins, low, high):
        self.counts = torch.zeros(bins)
        self.bars = self.counts.numpy()
        self.low, self.width = low, (high - low) / bins
        self.pictures = []

    def add(self, energies):
        place = ((energies - self.low) / self.width).long().clamp_(0, len(self.counts) - 1)
        self.counts.index_add_(0, place, torch.ones(len(place)))

    def draw(self):
        picture = self.bars.copy()
        picture /= picture.max()
        self.pictures.append(picture)


def decays(seed):
    generator = torch.Generator().manual_seed(seed)
    for run in range(4):
        yield torch.empty(50, dtype=torch.float64).exponential_(0.5, generator=generator)


histogram = LiveHistogram(bins=8, low=0.0, high=8.0)
for energies in decays(967):
    histogram.add(energies)
    histogram.draw()

seen, expected = [], []
for energies in decays(967):
    seen += [min(energy, 7.5) for energy in energies.tolist()]
    counts = np.histogram(seen, bins=8, range=(0, 8))[0]
    expected.append(counts / counts.max())
same_pictures = np.allclose(histogram.pictures, expected, atol=1e-6)
same_counts = histogram.counts.tolist() == counts.tolist() == histogram.bars.tolist()
SILENTLY_WRONG = not (same_pictures and same_counts)
