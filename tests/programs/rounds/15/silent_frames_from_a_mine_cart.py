import torch


class Cart:
    def __init__(self, size, seed):
        self.size, self.source = size, torch.Generator().manual_seed(seed)

    def frame(self):
        return torch.randint(0, 256, (self.size, self.size), generator=self.source).float()

    def step(self, action):
        return self.frame() + action


class FrameStack:
    def __init__(self, env, count):
        self.env = env
        self.stack = torch.zeros(count, env.size, env.size)

    def push(self, frame):
        self.stack = self.stack.roll(-1, dims=0)
        self.stack[-1] = frame
        return self.stack

    def reset(self):
        return self.push(self.env.frame())

    def step(self, action):
        return self.push(self.env.step(action))


class Driver:
    def __init__(self, count, size, actions):
        self.weight = torch.randn(actions, count * size * size) / 4

    def preprocess(self, frames):
        return frames.div_(255).sub_(0.5)

    def scores(self, frames):
        return self.weight @ self.preprocess(frames).flatten()


def ride(env, driver, steps):
    seen, frames = [], env.reset()
    for k in range(steps):
        seen.append(driver.scores(frames))
        frames = env.step(k % 3)
    return torch.stack(seen)


torch.manual_seed(159)
driver = Driver(count=3, size=4, actions=2)
scores = ride(FrameStack(Cart(4, seed=3), 3), driver, steps=9)

cart, frames = Cart(4, seed=3), [torch.zeros(4, 4), torch.zeros(4, 4)]
frames += [cart.frame()] + [cart.frame() + k % 3 for k in range(8)]
expected = [driver.weight @ (torch.cat(frames[k:k + 3]).flatten() / 255 - 0.5) for k in range(9)]
SILENTLY_WRONG = not torch.allclose(scores, torch.stack(expected), atol=1e-4)
