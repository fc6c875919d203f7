import torch
import torch.nn as nn


class Moments(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.register_buffer("count", torch.zeros((), dtype=torch.float64))
        self.register_buffer("mean", torch.zeros(width, dtype=torch.float64))
        self.register_buffer("scatter", torch.zeros(width, dtype=torch.float64))

    def push(self, batch):
        other = Moments(batch.shape[1])
        other.count += len(batch)
        other.mean += batch.mean(dim=0)
        other.scatter += (batch - other.mean).square().sum(dim=0)
        return self.merge(other)

    def merge(self, other):
        total = self.count + other.count
        gap = other.mean - self.mean
        self.scatter += other.scatter + gap.square() * (self.count * other.count / total)
        self.mean += gap * (other.count / total)
        self.count.copy_(total)
        return self

    def spread(self):
        return (self.scatter / (self.count - 1)).sqrt_()


torch.manual_seed(75)
readings = torch.randn(90, 3, dtype=torch.float64).mul_(torch.tensor([1.0, 5.0, 0.2])).add_(4)
rooms = [Moments(3), Moments(3)]
for i, batch in enumerate(readings.split(15)):
    rooms[i % 2].push(batch)
snapshot = {name: value.clone() for name, value in rooms[0].state_dict().items()}
whole = rooms[0].merge(rooms[1])
again = Moments(3)
again.load_state_dict(snapshot)
own = torch.cat(readings.split(15)[::2])
right = torch.allclose(again.spread(), own.std(dim=0)) and torch.allclose(whole.mean, readings.mean(dim=0))
SILENTLY_WRONG = not (right and torch.allclose(whole.spread(), readings.std(dim=0)))
