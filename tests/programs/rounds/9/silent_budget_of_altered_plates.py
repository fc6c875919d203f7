import numpy as np
import torch
import torch.nn as nn


class PlateReader:
    def __init__(self, net, mean, std):
        self.net, self.mean, self.std = net.eval(), mean, std

    @torch.no_grad()
    def predict(self, images):
        batch = torch.from_numpy(images)
        batch.sub_(self.mean).div_(self.std)
        return self.net(batch.flatten(1)).softmax(dim=1).numpy()


def smudge(images, strength, seed):
    noise = np.random.default_rng(seed).choice([-strength, strength], size=images.shape)
    return np.clip(images + noise, 0.0, 1.0).astype(np.float32)


def report(reader, images, truth):
    altered = smudge(images, strength=0.05, seed=3)
    clean_hits = (reader.predict(images).argmax(axis=1) == truth).mean()
    altered_hits = (reader.predict(altered).argmax(axis=1) == truth).mean()
    budget = np.abs(altered - images).max()
    return clean_hits, altered_hits, budget


torch.manual_seed(919)
net = nn.Sequential(nn.Linear(64, 16), nn.ReLU(), nn.Linear(16, 5))
images = np.random.default_rng(1).uniform(size=(40, 8, 8)).astype(np.float32)
truth = np.random.default_rng(2).integers(0, 5, size=40)
original = images.copy()
clean_hits, altered_hits, budget = report(PlateReader(net, 0.45, 0.25), images, truth)


def hits(pictures):
    with torch.no_grad():
        scores = net((torch.tensor(pictures) - 0.45).div(0.25).flatten(1))
    return (scores.argmax(dim=1).numpy() == truth).mean()


altered = smudge(original, strength=0.05, seed=3)
expected = hits(original), hits(altered), np.abs(altered - original).max()
SILENTLY_WRONG = not np.allclose((clean_hits, altered_hits, budget), expected, atol=1e-6)
