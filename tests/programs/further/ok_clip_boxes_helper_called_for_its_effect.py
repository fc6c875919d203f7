import torch


def clip_boxes(boxes, height, width):
    boxes[:, 0::2].clamp_(0, width)
    boxes[:, 1::2].clamp_(0, height)


def scale_boxes(boxes, gain, pad):
    boxes[:, [0, 2]] -= pad[0]
    boxes[:, [1, 3]] -= pad[1]
    boxes[:, :4] /= gain
    return boxes


torch.manual_seed(0)
detections = torch.rand(3, 6) * 20
scale_boxes(detections[:, :4], 0.5, (2.0, 1.0))
clip_boxes(detections[:, :4], 16, 16)
areas = (detections[:, 2] - detections[:, 0]) * (detections[:, 3] - detections[:, 1])
keep = areas.abs().argsort(descending=True)
picked = detections[keep]
assert picked[:, :4].max() <= 16
