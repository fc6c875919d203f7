import torch


class WindMemory:
    """The last winds on each boat, newest in front, in one flat buffer."""

    def __init__(self, boats, frames, width=2):
        self.width = width
        self.buf = torch.zeros(boats, frames * width)

    def push(self, wind):
        self.buf[:, self.width:] = self.buf[:, :-self.width].clone()
        self.buf[:, :self.width] = wind
        return self.buf

    def mean_wind(self, frames):
        return self.buf[:, :frames * self.width].reshape(len(self.buf), frames, self.width).mean(dim=1)


torch.manual_seed(23)
winds = torch.randn(20, 3, 2).cumsum(dim=0)
memory = WindMemory(boats=3, frames=5)
seen = []
for wind in winds:
    memory.push(wind)
    seen.append(memory.mean_wind(4))
seen = torch.stack(seen)
print("mean wind at the end", seen[-1].tolist())

expected = torch.zeros(20, 3, 2)
for t in range(20):
    for back in range(4):
        if t - back >= 0:
            expected[t] += winds[t - back] / 4
SILENTLY_WRONG = not torch.allclose(seen, expected, atol=1e-5)
