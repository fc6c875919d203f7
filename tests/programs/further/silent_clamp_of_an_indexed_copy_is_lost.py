import torch


def clip_coords(boxes, height, width):
    boxes[:, [0, 2]].clamp_(0, width)
    boxes[:, [1, 3]].clamp_(0, height)


torch.manual_seed(0)
boxes = torch.randn(4, 4) * 20
honest = boxes.clamp(0, 16)
clip_coords(boxes, 16, 16)
areas = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
SILENTLY_WRONG = not torch.equal(boxes, honest)
