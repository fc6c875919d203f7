from queue import Queue

import torch


class Stretcher:
    def __init__(self, shape, ring):
        self.outputs = [torch.empty(shape) for _ in range(ring)]
        self.turn = 0

    def __call__(self, frame):
        target = self.outputs[self.turn % len(self.outputs)]
        self.turn += 1
        low, high = frame.min(), frame.max()
        torch.sub(frame, low, out=target)
        target.div_(high - low)
        return target


class Writer:
    def __init__(self, room):
        self.queue, self.film = Queue(maxsize=room), []

    def put(self, frame):
        if self.queue.full():
            self.write()
        self.queue.put(frame)

    def write(self):
        self.film.append(self.queue.get().mul(255).round().byte())

    def close(self):
        while not self.queue.empty():
            self.write()
        return torch.stack(self.film)


def convert(frames, room):
    stretcher, writer = Stretcher(frames.shape[1:], ring=room + 1), Writer(room)
    for frame in frames:
        writer.put(stretcher(frame))
    return writer.close()


torch.manual_seed(20)
frames = torch.rand(11, 8, 9) * 3 - 1
film = convert(frames, room=3)

flat = frames.flatten(1)
low, high = flat.amin(dim=1)[:, None, None], flat.amax(dim=1)[:, None, None]
expected = (frames - low) / (high - low)
SILENTLY_WRONG = not torch.allclose(film.float() / 255, expected, atol=2.1e-3)
