import torch


def letterbox_back(boxes, gain, pad):
    boxes = boxes.clone()
    boxes[..., 0::2] -= pad[0]
    boxes[..., 1::2] -= pad[1]
    boxes[..., :4] /= gain
    return boxes


def clip_boxes(boxes, height, width):
    boxes[..., 0::2].clamp_(0, width)
    boxes[..., 1::2].clamp_(0, height)


def areas(boxes):
    return (boxes[..., 2] - boxes[..., 0]) * (boxes[..., 3] - boxes[..., 1])


class CrownCounter:
    """Counts tree crowns and the share of each that lies inside the tile."""

    def __init__(self, height, width, smallest):
        self.height, self.width, self.smallest = height, width, smallest
        self.shares, self.count = [], 0

    def add(self, boxes, gain, pad):
        boxes = letterbox_back(boxes, gain, pad)
        whole = areas(boxes)
        clip_boxes(boxes, self.height, self.width)
        inside = areas(boxes)
        keep = inside > self.smallest
        self.count += int(keep.sum())
        self.shares.append((inside / whole)[keep])
        return boxes[keep]


torch.manual_seed(2916)
counter, tiles, kept = CrownCounter(100, 150, smallest=40.0), [], []
for _ in range(3):
    corner = torch.rand(10, 2) * torch.tensor([360.0, 260.0]) - 30
    boxes = torch.cat([corner, corner + 10 + 60 * torch.rand(10, 2)], dim=1).double()
    tiles.append(boxes)
    kept.append(counter.add(boxes, gain=2.0, pad=(6.0, 10.0)))

shares, cut = [], []
for boxes in tiles:
    for x1, y1, x2, y2 in boxes.tolist():
        x1, x2 = (x1 - 6) / 2, (x2 - 6) / 2
        y1, y2 = (y1 - 10) / 2, (y2 - 10) / 2
        a, c = (min(max(x, 0), 150) for x in (x1, x2))
        b, d = (min(max(y, 0), 100) for y in (y1, y2))
        if (c - a) * (d - b) > 40:
            shares.append((c - a) * (d - b) / ((x2 - x1) * (y2 - y1)))
            cut.append([a, b, c, d])
right = counter.count == len(shares)
right = right and torch.allclose(torch.cat(counter.shares), torch.tensor(shares).double())
SILENTLY_WRONG = not (right and torch.allclose(torch.cat(kept), torch.tensor(cut).double()))
