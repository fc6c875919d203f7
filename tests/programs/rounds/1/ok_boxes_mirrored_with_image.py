from dataclasses import dataclass

import torch


@dataclass
class Sample:
    image: torch.Tensor
    boxes: torch.Tensor


class RandomMirror:
    def __init__(self, p, generator):
        self.p = p
        self.generator = generator

    def __call__(self, sample):
        image, boxes = sample.image, sample.boxes.clone()
        if torch.rand((), generator=self.generator) < self.p:
            image = image.flip(-1)
            boxes[:, [0, 2]] = image.shape[-1] - boxes[:, [2, 0]]
        return Sample(image, boxes)


def to_centre_form(boxes):
    out = torch.empty_like(boxes)
    out[:, :2] = (boxes[:, :2] + boxes[:, 2:]) / 2
    out[:, 2:] = boxes[:, 2:] - boxes[:, :2]
    return out


torch.manual_seed(0)
sample = Sample(torch.rand(3, 16, 20), torch.tensor([[1.0, 2.0, 6.0, 9.0], [10.0, 4.0, 19.0, 12.0]]))
augment = RandomMirror(1.0, torch.Generator().manual_seed(1))
once = augment(sample)
twice = augment(once)
targets = to_centre_form(once.boxes)

expected = torch.tensor([
    [20 - (x0 + x1) / 2, (y0 + y1) / 2, x1 - x0, y1 - y0]
    for x0, y0, x1, y1 in [[1.0, 2.0, 6.0, 9.0], [10.0, 4.0, 19.0, 12.0]]
])
SILENTLY_WRONG = not (
    torch.allclose(targets, expected)
    and torch.allclose(twice.boxes, sample.boxes)
    and torch.equal(twice.image, sample.image)
)
