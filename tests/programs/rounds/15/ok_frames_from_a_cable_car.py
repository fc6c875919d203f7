import torch


class Car:
    def __init__(self, size, seed):
        self.size, self.source = size, torch.Generator().manual_seed(seed)

    def frame(self):
        return torch.randint(0, 256, (self.size, self.size), generator=self.source).float()

    def step(self, action):
        return self.frame().add_(action)


class FrameRing:
    def __init__(self, env, count):
        self.env, self.place = env, 0
        self.ring = torch.zeros(count, env.size, env.size)

    def push(self, frame):
        self.ring[self.place] = frame
        self.place = (self.place + 1) % len(self.ring)
        return self.ring.roll(-self.place, dims=0)

    def reset(self):
        return self.push(self.env.frame())

    def step(self, action):
        return self.push(self.env.step(action))


class Driver:
    def __init__(self, count, size, actions):
        self.weight = torch.randn(actions, count * size * size) / 4

    def scores(self, frames):
        frames.div_(255).sub_(0.5)
        return self.weight @ frames.flatten()


def ride(env, driver, steps):
    seen, frames = [], env.reset()
    for k in range(steps):
        seen.append(driver.scores(frames))
        frames = env.step(k % 4)
    return torch.stack(seen)


torch.manual_seed(160)
driver = Driver(count=4, size=3, actions=3)
scores = ride(FrameRing(Car(3, seed=4), 4), driver, steps=10)

car, frames = Car(3, seed=4), [torch.zeros(3, 3) for _ in range(3)]
frames += [car.frame()] + [car.frame() + k % 4 for k in range(9)]
expected = [driver.weight @ (torch.cat(frames[k:k + 4]).flatten() / 255 - 0.5) for k in range(10)]
SILENTLY_WRONG = not torch.allclose(scores, torch.stack(expected), atol=1e-4)
