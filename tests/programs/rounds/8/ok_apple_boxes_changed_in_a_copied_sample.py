import copy

import torch


class Mirror:
    def apply(self, sample):
        sample["photo"] = sample["photo"].flip(-1)
        boxes, width = sample["boxes"], sample["photo"].shape[-1]
        boxes[:, 0::2] = width - boxes[:, [2, 0]]


class Shift:
    def __init__(self, down):
        self.down = down

    def apply(self, sample):
        sample["photo"] = sample["photo"].roll(self.down, dims=0)
        sample["boxes"][:, 1::2] += self.down


class Chain:
    def __init__(self, *parts):
        self.parts = parts

    def __call__(self, sample):
        sample = copy.deepcopy(sample)
        for part in self.parts:
            part.apply(sample)
        return sample


def paint(boxes):
    photo = torch.zeros(30, 40)
    for x1, y1, x2, y2 in boxes.tolist():
        photo[y1:y2, x1:x2] = 1.0
    return photo


torch.manual_seed(865)
corner = torch.stack([torch.randint(0, 30, (4,)), torch.randint(0, 18, (4,))], dim=1)
boxes = torch.cat([corner, corner + torch.tensor([6, 5])], dim=1)
orchard = {"photo": paint(boxes), "boxes": boxes}

chain = Chain(Mirror(), Shift(down=4))
views = [chain(orchard) for _ in range(3)]
good = all(torch.equal(view["photo"], paint(view["boxes"])) for view in views)
good = good and all(torch.equal(view["boxes"], views[0]["boxes"]) for view in views)
SILENTLY_WRONG = not (good and torch.equal(orchard["photo"], paint(orchard["boxes"])))
