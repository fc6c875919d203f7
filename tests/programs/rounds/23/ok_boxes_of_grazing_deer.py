import torch


def xywh2xyxy(boxes):
    """Middle and size to the two corners."""
    corners = torch.empty_like(boxes)
    half = boxes[..., 2:] / 2
    corners[..., :2] = boxes[..., :2] - half
    corners[..., 2:] = boxes[..., :2] + half
    return corners


def clip_boxes(corners, shape):
    """Cuts the corners off at the edge of the picture, in place."""
    corners[..., 0::2].clamp_(0, shape[1])
    corners[..., 1::2].clamp_(0, shape[0])
    return corners


def scale_boxes(corners, gain, pad):
    """From the padded picture back to the plain one, in place."""
    corners[..., [0, 2]] -= pad[0]
    corners[..., [1, 3]] -= pad[1]
    corners /= gain
    return corners


class DeerCounter:
    def __init__(self, shape, gain, pad):
        self.shape, self.gain, self.pad = shape, gain, pad

    def __call__(self, found):
        boxes = clip_boxes(scale_boxes(xywh2xyxy(found), self.gain, self.pad), self.shape)
        area = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
        return boxes, area


torch.manual_seed(45)
found = torch.cat([640 * torch.rand(10, 2, dtype=torch.float64), 20 + 60 * torch.rand(10, 2, dtype=torch.float64)], dim=1)
rows = found.tolist()
counter = DeerCounter(shape=(960, 1280), gain=0.5, pad=(0.0, 80.0))
boxes, area = counter(found)
again, _ = counter(found)
print("mean area of a deer", float(area.mean()))

expected = []
for x, y, w, h in rows:
    left, top = (x - w / 2) / 0.5, (y - h / 2 - 80) / 0.5
    right, low = (x + w / 2) / 0.5, (y + h / 2 - 80) / 0.5
    left, right = [min(max(v, 0), 1280) for v in (left, right)]
    top, low = [min(max(v, 0), 960) for v in (top, low)]
    expected.append([left, top, right, low])
expected = torch.tensor(expected, dtype=torch.float64)
SILENTLY_WRONG = not (torch.allclose(boxes, expected, atol=1e-9) and torch.equal(boxes, again))
