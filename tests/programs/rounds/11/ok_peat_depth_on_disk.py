import os
import tempfile

import numpy as np
import torch


class Survey:
    def __init__(self, path, shape):
        self.path, self.shape = path, shape

    def open(self, mode):
        return torch.from_numpy(np.memmap(self.path, dtype=np.float32, mode=mode, shape=self.shape))

    def standardised(self):
        tiles = self.open("c")
        for tile in tiles:
            tile.sub_(tile.mean()).div_(tile.std())
        return tiles


def volume(survey, area):
    return float(survey.open("c").sum() * area)


rng = np.random.default_rng(110)
depth = rng.gamma(3.0, 0.6, size=(4, 6, 6)).astype(np.float32)
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "peat.bin")
    depth.tofile(path)
    survey = Survey(path, depth.shape)
    model_input = survey.standardised()
    roughness = float((model_input[:, 1:] - model_input[:, :-1]).abs().mean())
    found = volume(survey, 4.0)
    del model_input
flat = (depth - depth.mean((1, 2), keepdims=True)) / depth.std((1, 2), ddof=1, keepdims=True)
right = abs(roughness - np.abs(np.diff(flat, axis=1)).mean()) < 1e-4
SILENTLY_WRONG = not (right and abs(found - 4.0 * float(depth.sum())) < 1e-2)
