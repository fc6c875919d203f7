import numpy as np
import torch


class DepthBoxes:
    def __init__(self, boxes, origin=(0.5, 0.5, 0.0)):
        self.tensor = torch.as_tensor(boxes, dtype=torch.float32)
        if origin != (0.5, 0.5, 0.0):
            shift = self.tensor.new_tensor((0.5, 0.5, 0.0)) - self.tensor.new_tensor(origin)
            self.tensor[:, :3] += self.tensor[:, 3:6] * shift

    @property
    def bottom_height(self):
        return self.tensor[:, 2]


def evaluate(predictions, annotations):
    errors = []
    for predicted, info in zip(predictions, annotations):
        target = DepthBoxes(info["boxes"], origin=(0.5, 0.5, 0.5))
        errors.append((predicted.bottom_height - target.bottom_height).abs().mean())
    return torch.stack(errors).mean().item()


rng = np.random.default_rng(8)
annotations = [{"boxes": rng.uniform(0.5, 2.0, (6, 7)).astype(np.float32)} for _ in range(4)]
expected = float(np.mean([np.abs(0.1 - (a["boxes"][:, 2] - a["boxes"][:, 5] / 2)).mean() for a in annotations]))

predictions = []
for info in annotations:
    guess = torch.zeros(6, 7)
    guess[:, 2] = 0.1
    predictions.append(DepthBoxes(guess))

history = [evaluate(predictions, annotations) for epoch in range(3)]
SILENTLY_WRONG = any(abs(value - expected) > 1e-4 for value in history)
