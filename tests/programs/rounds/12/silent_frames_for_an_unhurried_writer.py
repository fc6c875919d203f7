from queue import Queue

import torch
import torch.nn.functional as F


class Smoother:
    def __init__(self, shape, ring):
        self.outputs = [torch.empty(shape) for _ in range(ring)]
        self.turn = 0
        self.kernel = torch.tensor([[1.0, 2.0, 1.0], [2.0, 4.0, 2.0], [1.0, 2.0, 1.0]])[None, None] / 16

    def __call__(self, frame):
        target = self.outputs[self.turn % len(self.outputs)]
        self.turn += 1
        target.copy_(F.conv2d(frame[None, None], self.kernel, padding=1)[0, 0])
        return target


class Writer:
    def __init__(self, waiting):
        self.queue, self.film = Queue(), []
        self.waiting = waiting

    def put(self, frame):
        self.queue.put(frame)
        if self.queue.qsize() >= self.waiting:
            self.flush()

    def flush(self):
        while not self.queue.empty():
            self.film.append(self.queue.get().mul(255).round().byte())


def convert(frames, ring=2, waiting=5):
    smoother, writer = Smoother(frames.shape[1:], ring), Writer(waiting)
    for frame in frames:
        writer.put(smoother(frame))
    writer.flush()
    return torch.stack(writer.film)


torch.manual_seed(18)
frames = torch.rand(12, 10, 14)
film = convert(frames)

wide = F.pad(frames, (1, 1, 1, 1))
expected = torch.zeros_like(frames)
for i, row in enumerate((1, 2, 1)):
    for j, weight in enumerate((1, 2, 1)):
        expected = expected + row * weight / 16 * wide[:, i:i + 10, j:j + 14]
SILENTLY_WRONG = not torch.allclose(film.float() / 255, expected, atol=4e-3)
