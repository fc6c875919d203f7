import os
import tempfile

import numpy as np
import torch


class FeatureFile:
    def __init__(self, path, shape, mode):
        self.array = np.memmap(path, dtype=np.float32, mode=mode, shape=shape)
        self.tensor = torch.from_numpy(self.array)

    def flush(self):
        self.array.flush()


def standardize(store, rows_at_once=16):
    mean = store.tensor.mean(dim=0)
    std = store.tensor.std(dim=0)
    for part in store.tensor.split(rows_at_once):
        part.sub_(mean).div_(std)
    store.flush()
    return mean, std


torch.manual_seed(17)
values = torch.randn(70, 6) * torch.tensor([1.0, 5.0, 0.1, 3.0, 2.0, 9.0]) + 4
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "features.bin")
    store = FeatureFile(path, (70, 6), "w+")
    store.tensor.copy_(values)
    mean, std = standardize(store)
    del store
    stored = torch.tensor(np.fromfile(path, dtype=np.float32).reshape(70, 6))

expected = (values.double() - values.double().mean(0)) / values.double().std(0)
SILENTLY_WRONG = not (torch.allclose(stored.double(), expected, atol=1e-4)
                      and torch.allclose(stored * std + mean, values, atol=1e-4))
