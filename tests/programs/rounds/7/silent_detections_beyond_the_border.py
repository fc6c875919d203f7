import torch


def clip_to_image(boxes, height, width):
    boxes[:, [0, 2]].clamp_(0, width)
    boxes[:, [1, 3]].clamp_(0, height)


def to_original(boxes, gain, pad, shape):
    boxes = boxes.clone()
    boxes[:, [0, 2]] -= pad[0]
    boxes[:, [1, 3]] -= pad[1]
    boxes /= gain
    clip_to_image(boxes, *shape)
    return boxes


def pairwise_iou(a, b):
    low = torch.maximum(a[:, None, :2], b[None, :, :2])
    high = torch.minimum(a[:, None, 2:], b[None, :, 2:])
    overlap = (high - low).clamp(min=0).prod(dim=2)
    area_a = (a[:, 2:] - a[:, :2]).prod(dim=1)
    area_b = (b[:, 2:] - b[:, :2]).prod(dim=1)
    return overlap / (area_a[:, None] + area_b[None] - overlap)


torch.manual_seed(41)
centre = torch.rand(12, 2) * 640
extent = torch.rand(12, 2) * 220 + 40
network = torch.cat([centre - extent / 2, centre + extent / 2], dim=1)
truth = torch.tensor([[0.0, 0.0, 150.0, 180.0], [700.0, 200.0, 960.0, 420.0], [400.0, 380.0, 620.0, 540.0]])

found = to_original(network, gain=640 / 960, pad=(0, 140), shape=(540, 960))
best = pairwise_iou(truth, found).max(dim=1).values

x = ((network[:, 0::2] - 0) * 1.5).clamp(0, 960)
y = ((network[:, 1::2] - 140) * 1.5).clamp(0, 540)
limited = torch.stack([x[:, 0], y[:, 0], x[:, 1], y[:, 1]], dim=1)
SILENTLY_WRONG = not torch.allclose(best, pairwise_iou(truth, limited).max(dim=1).values, atol=1e-4)
