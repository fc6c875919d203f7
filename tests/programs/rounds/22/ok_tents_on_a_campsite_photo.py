import torch


def xywh2xyxy(x):
    """Centre and size to corners; further columns are taken over."""
    y = torch.empty_like(x)
    half = x[..., 2:4] / 2
    y[..., :2] = x[..., :2] - half
    y[..., 2:4] = x[..., :2] + half
    y[..., 4:] = x[..., 4:]
    return y


def clip_boxes(boxes, shape):
    boxes[..., [0, 2]] = boxes[..., [0, 2]].clamp(0, shape[1])
    boxes[..., [1, 3]] = boxes[..., [1, 3]].clamp(0, shape[0])
    return boxes


class Detections:
    def __init__(self, raw, shape):
        self.raw = raw
        self.shape = shape
        self._xyxy = None

    @property
    def xyxy(self):
        if self._xyxy is None:
            self._xyxy = clip_boxes(xywh2xyxy(self.raw), self.shape)
        return self._xyxy

    def area(self):
        boxes = self.xyxy
        return (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])

    def confident(self, least):
        return self.xyxy[self.xyxy[:, 4] > least]


torch.manual_seed(50)
raw = torch.cat([torch.rand(6, 2) * 100, 10 + 30 * torch.rand(6, 2), torch.rand(6, 1), torch.arange(6.0)[:, None]], 1)
detections = Detections(raw, shape=(80, 100))
area = detections.area()
sure = detections.confident(0.4)
print("area", area.tolist(), "kinds", sure[:, 5].tolist())

expected, kinds = [], []
for cx, cy, w, h, score, kind in raw.tolist():
    wide = min(cx + w / 2, 100) - max(cx - w / 2, 0)
    high = min(max(cy + h / 2, 0), 80) - min(max(cy - h / 2, 0), 80)
    expected.append(wide * high)
    if score > 0.4:
        kinds.append(kind)
SILENTLY_WRONG = not torch.allclose(area, torch.tensor(expected), atol=1e-2) or sure[:, 5].tolist() != kinds
