import torch


class InstanceCanvas:
    def __init__(self, height, width):
        self.labels = torch.zeros(height, width, dtype=torch.uint8)

    def paint(self, boxes, ids):
        for (top, left, bottom, right), instance in zip(boxes, ids):
            self.labels[top:bottom, left:right] = instance

    def areas(self):
        ids, counts = self.labels.unique(return_counts=True)
        return {int(i): int(c) for i, c in zip(ids, counts) if i > 0}


def detect_cells(rows, cols, size=4):
    for r in range(rows):
        for c in range(cols):
            yield (r * size, c * size, r * size + size - 1, c * size + size - 1)


def tracked_ids(count, start=1):
    return torch.arange(start, start + count)


boxes = list(detect_cells(18, 20))
canvas = InstanceCanvas(18 * 4, 20 * 4)
canvas.paint(boxes, tracked_ids(len(boxes)))
areas = canvas.areas()

expected = {k + 1: (b - t) * (r - l) for k, (t, l, b, r) in enumerate(boxes)}
SILENTLY_WRONG = areas != expected
