import torch


def hflip_boxes(boxes, width):
    left = width - boxes[:, 2]
    boxes[:, 2] = width - boxes[:, 0]
    boxes[:, 0] = left
    return boxes


class MirrorAugmentation:
    def __init__(self, p, seed):
        self.p = p
        self.generator = torch.Generator().manual_seed(seed)

    def __call__(self, photo, boxes):
        if torch.rand((), generator=self.generator) < self.p:
            return photo.flip(-1), hflip_boxes(boxes, photo.shape[-1])
        return photo, boxes


def brightness_inside(photo, boxes):
    return torch.stack([photo[y1:y2, x1:x2].mean() for x1, y1, x2, y2 in boxes.tolist()])


def paint(boxes, height, width):
    photo = torch.zeros(height, width)
    for x1, y1, x2, y2 in boxes.tolist():
        photo[y1:y2, x1:x2] = 1.0
    return photo


torch.manual_seed(815)
data = []
for _ in range(5):
    corner = torch.stack([torch.randint(0, 18, (3,)), torch.randint(0, 20, (3,))], dim=1)
    boxes = torch.cat([corner, corner + torch.tensor([5, 4])], dim=1)
    data.append((paint(boxes, 24, 40), boxes))

augment = MirrorAugmentation(p=0.5, seed=4)
coverage = []
for epoch in range(4):
    for photo, boxes in data:
        view, target = augment(photo, boxes)
        coverage.append(brightness_inside(view, target).min())
SILENTLY_WRONG = bool((torch.stack(coverage) < 1.0).any())
