import io
import torch


class QuoteReader:
    FIELDS = 4

    def __init__(self, stream, tick):
        self.stream = stream
        self.tick = tick

    def __iter__(self):
        frame = bytearray(4 * self.FIELDS)
        view = torch.frombuffer(frame, dtype=torch.int32)
        while self.stream.readinto(frame) == len(frame):
            record = view.to(torch.float64)
            record[:2] *= self.tick
            yield record


def running_spread(reader):
    total, n = torch.zeros((), dtype=torch.float64), 0
    for bid, ask, *_ in reader:
        total += ask - bid
        n += 1
    return total / n


torch.manual_seed(0)
history = torch.randint(9_000, 11_000, (6, 4), dtype=torch.int32)
history[:, 1] = history[:, 0] + torch.randint(1, 9, (6,), dtype=torch.int32)
raw = history.numpy().tobytes()

quotes = torch.stack(list(QuoteReader(io.BytesIO(raw), tick=0.01)))
spread = running_spread(QuoteReader(io.BytesIO(raw), tick=0.01))

expected = history.double() * torch.tensor([0.01, 0.01, 1, 1], dtype=torch.float64)
gap = (expected[:, 1] - expected[:, 0]).mean()
SILENTLY_WRONG = not (torch.allclose(quotes, expected) and torch.allclose(spread, gap))
