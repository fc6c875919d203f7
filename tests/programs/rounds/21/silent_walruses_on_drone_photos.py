from dataclasses import dataclass

import torch


@dataclass
class Found:
    rows: torch.Tensor
    boxes: torch.Tensor
    scores: torch.Tensor


class Finder:
    """Looks for animals in a photo that was shrunk for the search."""

    def __init__(self, threshold):
        self.threshold = threshold

    def post(self, rows):
        rows = rows[rows[:, 4] > self.threshold]
        return Found(rows=rows, boxes=rows[:, :4], scores=rows[:, 4])

    def to_photo(self, found, across, down):
        for table in (found.rows, found.boxes):
            table[:, 0:4:2] *= across
            table[:, 1:4:2] *= down
        return found

    def __call__(self, rows, shrunk, photo):
        found = self.post(rows)
        return self.to_photo(found, photo[1] / shrunk[1], photo[0] / shrunk[0])


def lengths(found, metres):
    size = (found.boxes[:, 2:] - found.boxes[:, :2]) * metres
    return size.amax(dim=1)


torch.manual_seed(23)
corner = 100 * torch.rand(20, 2)
rows = torch.cat([corner, corner + 4 + 12 * torch.rand(20, 2), torch.rand(20, 1)], dim=1)
numbers = rows.tolist()
finder = Finder(threshold=0.3)
found = finder(rows, shrunk=(128, 128), photo=(240, 320))
animals = lengths(found, metres=0.08)
print("animals", len(animals), "mean length", animals.mean().item())

expected = []
for left, top, right, bottom, score in numbers:
    if score > 0.3:
        expected.append(0.08 * max((right - left) * 2.5, (bottom - top) * 1.875))
SILENTLY_WRONG = not torch.allclose(animals, torch.tensor(expected), atol=1e-4)
