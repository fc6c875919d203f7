import torch
from torch.utils.data import DataLoader, Dataset


def xywh_to_xyxy(xywh):
    xyxy = xywh.clone()
    xyxy[..., 2:] += xyxy[..., :2]
    return xyxy


def flip(xyxy, width):
    xyxy = xyxy.clone()
    xyxy[:, [0, 2]] = width - xyxy[:, [2, 0]]
    return xyxy


class Sledges(Dataset):
    """Boxes of one picture each, stored in pixels as left, top, width, height."""

    def __init__(self, boxes, size, mirrored):
        self.boxes = boxes
        self.size = size
        self.mirrored = mirrored

    def __len__(self):
        return len(self.boxes)

    def __getitem__(self, index):
        width, height = self.size
        boxes = xywh_to_xyxy(self.boxes[index])
        if self.mirrored:
            boxes = flip(boxes, width)
        boxes[:, 0::2] /= width
        boxes[:, 1::2] /= height
        return boxes.clamp_(0.0, 1.0)


def centres(loader):
    found = torch.cat([batch for batch in loader])
    return (found[..., :2] + found[..., 2:]) / 2


torch.manual_seed(52)
boxes = torch.cat([torch.rand(10, 3, 2) * 60, 5 + 20 * torch.rand(10, 3, 2)], dim=-1)
dataset = Sledges(boxes, size=(100, 80), mirrored=True)
loader = DataLoader(dataset, batch_size=4)
seen = [centres(loader) for epoch in range(3)]
print("mean centre of each epoch", [c.mean(dim=(0, 1)).tolist() for c in seen])

expected = torch.zeros(10, 3, 2)
for i in range(10):
    for j in range(3):
        left, top, w, h = boxes[i, j].tolist()
        right = min(max((100 - left) / 100, 0), 1)
        low = min(max((100 - left - w) / 100, 0), 1)
        expected[i, j, 0] = (right + low) / 2
        expected[i, j, 1] = (min(top / 80, 1) + min((top + h) / 80, 1)) / 2
SILENTLY_WRONG = not all(torch.allclose(c, expected, atol=1e-5) for c in seen)
