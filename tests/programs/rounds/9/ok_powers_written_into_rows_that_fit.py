import torch

BANDS = 6


class BandTable:
    def __init__(self, antennas, frames):
        self.power = torch.zeros(antennas, frames, BANDS)
        self.arrived = torch.zeros(antennas, dtype=torch.long)

    def push(self, antenna, samples):
        spectrum = torch.fft.rfft(samples)[1:BANDS + 1]
        row = self.power[antenna, self.arrived[antenna]]
        torch.square(spectrum.abs(), out=row)
        torch.log1p(row, out=row)
        self.arrived[antenna] += 1

    def mean(self):
        return self.power.sum(dim=1) / self.arrived[:, None]


generator = torch.Generator().manual_seed(958)
arrivals = [(antenna, torch.randn(16 + 2 * antenna, generator=generator))
            for frame in range(5) for antenna in (2, 0, 3, 1) if (frame + antenna) % 4]
table = BandTable(antennas=4, frames=5)
for antenna, samples in arrivals:
    table.push(antenna, samples)

expected = []
for antenna in range(4):
    rows = []
    for owner, samples in arrivals:
        if owner == antenna:
            turns = torch.arange(len(samples), dtype=torch.float64) * 2 * torch.pi / len(samples)
            waves = torch.arange(1, BANDS + 1)[:, None] * turns
            real, imaginary = waves.cos() @ samples.double(), waves.sin() @ samples.double()
            rows.append((1 + real ** 2 + imaginary ** 2).log())
    expected.append(torch.stack(rows).mean(dim=0))
SILENTLY_WRONG = not torch.allclose(table.mean().double(), torch.stack(expected), atol=1e-4)
