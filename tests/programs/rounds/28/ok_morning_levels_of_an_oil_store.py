import numpy as np
import torch


class Store:
    def __init__(self, levels):
        self.levels = levels

    def log(self):
        return self.levels.numpy().copy()

    def deliver(self, litres):
        self.levels += litres
        self.levels.clamp_(max=900.0)


store = Store(torch.tensor([310.0, 120.0, 850.0, 600.0]))
morning = store.log()
store.deliver(torch.tensor([200.0, 300.0, 100.0, 0.0]))
taken_in = store.log() - morning
print("taken in", taken_in.tolist(), "filled up", np.flatnonzero(taken_in > 0).tolist())

expected = torch.tensor([200.0, 300.0, 50.0, 0.0])
SILENTLY_WRONG = not torch.allclose(torch.from_numpy(taken_in), expected, atol=1e-3)
