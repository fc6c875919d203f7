import torch


def straighten(strip, lag):
    """Moves the backward rows of a strip by the lag, in the strip's own memory."""
    if lag > 0:
        strip[:, 1::2, lag:] = strip[:, 1::2, :-lag].clone()
    elif lag < 0:
        strip[:, 1::2, :lag] = strip[:, 1::2, -lag:].clone()
    return strip


class LineScanner:
    def __init__(self, lag):
        self.lag = lag
        self.rows = 0

    def __call__(self, strips):
        for strip in strips:
            straighten(strip, self.lag)
            self.rows += strip.shape[0] * strip.shape[1]
        return strips


torch.manual_seed(18)
checks = []
for lag in (4, -3, 0):
    strips = [torch.rand(2, 8, 50) for _ in range(3)]
    raw = [strip.tolist() for strip in strips]
    scanner = LineScanner(lag)
    scanner(strips)
    for strip, frames in zip(strips, raw):
        expected = []
        for frame in frames:
            rows = []
            for number, row in enumerate(frame):
                if number % 2 and lag > 0:
                    row = row[:lag] + row[:-lag]
                elif number % 2 and lag < 0:
                    row = row[-lag:] + row[lag:]
                rows.append(row)
            expected.append(rows)
        checks.append(torch.allclose(strip, torch.tensor(expected)))
print("straightened", len(checks), "strips")
SILENTLY_WRONG = not all(checks)
