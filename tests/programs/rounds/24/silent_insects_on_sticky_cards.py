import copy
import random

import torch


class CardSet:
    """Sticky cards with the insects on them, boxes as fractions of the card (left, top, right, bottom)."""

    def __init__(self, labels, side):
        self.labels = labels
        self.side = side

    def get(self, index):
        label = copy.copy(self.labels[index])
        label["index"] = index
        return self.to_pixels(label)

    def to_pixels(self, label):
        boxes = label["boxes"]
        boxes *= self.side
        return label

    def sheet(self, indices):
        """Four cards side by side, two in each row."""
        parts = []
        for place, index in enumerate(indices):
            label = self.get(index)
            boxes = label["boxes"]
            boxes[:, 0::2] += (place % 2) * self.side
            boxes[:, 1::2] += (place // 2) * self.side
            parts.append(boxes[label["adult"]])
        return torch.cat(parts)


def mean_area(cards, sheets):
    total, count = torch.zeros(()), 0
    for indices in sheets:
        boxes = cards.sheet(indices)
        total += ((boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])).sum()
        count += len(boxes)
    return total / count


torch.manual_seed(4)
random.seed(4)
labels, areas = [], []
for n in (3, 5, 2, 4, 6, 3):
    corner = torch.rand(n, 2) * 0.8
    extent = 0.02 + 0.1 * torch.rand(n, 2)
    adult = torch.rand(n) < 0.7
    labels.append({"boxes": torch.cat([corner, corner + extent], dim=1), "adult": adult})
    areas.append((extent.prod(dim=1) * 64 * 64)[adult].tolist())
sheets = [random.sample(range(6), 4) for _ in range(3)]
area = mean_area(CardSet(labels, side=64), sheets)
print("mean area of an adult", area.item())

each = [a for indices in sheets for index in indices for a in areas[index]]
SILENTLY_WRONG = abs(area.item() - sum(each) / len(each)) > 1e-2
