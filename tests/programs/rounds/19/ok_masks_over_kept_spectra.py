from functools import lru_cache

import torch


class Recordings:
    def __init__(self, waves, bands):
        self.waves, self.bands = waves, bands

    @lru_cache(maxsize=None)
    def spectrum(self, index):
        frames = self.waves[index].unfold(0, 2 * self.bands, self.bands)
        return torch.fft.rfft(frames * torch.hann_window(2 * self.bands, dtype=frames.dtype)).abs()[:, 1:]

    def __len__(self):
        return len(self.waves)


class MaskBlocks:
    def __init__(self, time, band, seed):
        self.time, self.band = time, band
        self.generator = torch.Generator().manual_seed(seed)

    def span(self, limit, widest):
        width = int(torch.randint(1, widest + 1, (1,), generator=self.generator))
        begin = int(torch.randint(0, limit - width + 1, (1,), generator=self.generator))
        return slice(begin, begin + width)

    def __call__(self, features):
        features = features.clone()
        fill = features.mean()
        features[self.span(features.shape[0], self.time)] = fill
        features[:, self.span(features.shape[1], self.band)] = fill
        return features


def epochs(recordings, mask, count):
    for _ in range(count):
        for index in range(len(recordings)):
            yield index, mask(recordings.spectrum(index))


torch.manual_seed(2911)
waves = torch.randn(4, 96, dtype=torch.float64)
recordings = Recordings(waves, bands=8)
energies = [(i, masked.square().sum()) for i, masked in epochs(recordings, MaskBlocks(3, 2, seed=8), count=3)]

draws, expected = torch.Generator().manual_seed(8), []
window = torch.hann_window(16, dtype=torch.float64)


def draw(limit, widest):
    width = int(torch.randint(1, widest + 1, (1,), generator=draws))
    begin = int(torch.randint(0, limit - width + 1, (1,), generator=draws))
    return range(begin, begin + width)


for _ in range(3):
    for wave in waves:
        parts = [torch.fft.rfft(wave[k:k + 16] * window).abs()[1:] for k in range(0, 81, 8)]
        full = torch.stack(parts)
        rows, columns = draw(11, 3), draw(8, 2)
        hidden = [[r in rows or c in columns for c in range(8)] for r in range(11)]
        expected.append(torch.where(torch.tensor(hidden), full.mean(), full).square().sum())
found = torch.stack([energy for _, energy in energies])
SILENTLY_WRONG = not torch.allclose(found, torch.stack(expected))
