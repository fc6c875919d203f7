import numpy as np
import torch


class Camera:
    def __init__(self, height, width, seed):
        self.block = np.zeros((height, width, 3), dtype=np.float32)
        self.random = np.random.default_rng(seed)

    def grab(self):
        self.block[...] = self.random.random(self.block.shape, dtype=np.float32)


class Monitor:
    def __init__(self, camera):
        self.camera = camera
        self.frame = torch.from_numpy(camera.block)
        self.background = torch.zeros(camera.block.shape[:2])
        self.alarms = []

    def watch(self, frames):
        for _ in range(frames):
            self.camera.grab()
            self.frame.clamp_(0.1, 0.9)
            grey = self.frame.mean(dim=2)
            self.alarms.append((grey - self.background).abs().amax())
            self.background.lerp_(grey, 0.25)
        return torch.stack(self.alarms)


monitor = Monitor(Camera(6, 8, 645))
alarms = monitor.watch(12)

random, background, expected = np.random.default_rng(645), torch.zeros(6, 8), []
for _ in range(12):
    grey = torch.tensor(random.random((6, 8, 3), dtype=np.float32)).clamp(0.1, 0.9).mean(dim=2)
    expected.append((grey - background).abs().max())
    background = background + 0.25 * (grey - background)
SILENTLY_WRONG = not torch.allclose(alarms, torch.stack(expected), atol=1e-6)
