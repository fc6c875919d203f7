import os
import tempfile

import numpy as np
import torch


class Survey:
    def __init__(self, path, shape):
        self.path, self.shape = path, shape

    def open(self):
        tiles = np.memmap(self.path, dtype=np.float32, mode="r+", shape=self.shape)
        return torch.from_numpy(tiles)

    def standardised(self):
        tiles = self.open()
        for tile in tiles:
            tile.sub_(tile.mean()).div_(tile.std())
        return tiles


def volume(survey, area):
    return float(survey.open().sum() * area)


rng = np.random.default_rng(11)
thickness = rng.gamma(3.0, 0.6, size=(5, 8, 8)).astype(np.float32)
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "ice.bin")
    thickness.tofile(path)
    survey = Survey(path, thickness.shape)
    model_input = survey.standardised()
    roughness = (model_input[:, 1:] - model_input[:, :-1]).abs().mean()
    found = volume(survey, 25.0)
    del model_input
SILENTLY_WRONG = abs(found - 25.0 * float(thickness.sum(dtype=np.float64))) > 1e-2 * abs(found) + 1.0
