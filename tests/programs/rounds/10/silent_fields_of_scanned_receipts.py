import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class ReceiptFields(Dataset):
    def __init__(self, pages, fields, transform=None):
        self.pages = pages
        self.fields = fields
        self.transform = transform

    def __len__(self):
        return len(self.pages)

    def __getitem__(self, number):
        page = torch.as_tensor(self.pages[number])
        boxes = torch.as_tensor(self.fields[number])
        if self.transform is not None:
            page, boxes = self.transform(page, boxes)
        return page, boxes


def relative(page, boxes):
    height, width = page.shape[-2:]
    boxes[:, 0::2] /= width
    boxes[:, 1::2] /= height
    return page / 255, boxes


def mean_area(loader):
    areas = []
    for _, boxes in loader:
        sides = boxes[..., 2:] - boxes[..., :2]
        areas.append(sides.prod(dim=-1).flatten())
    return torch.cat(areas).mean()


rng = np.random.default_rng(5)
pages = [rng.integers(0, 255, (1, 48, 32)).astype(np.float32) for _ in range(10)]
corners = rng.uniform(0, 20, (10, 3, 2))
fields = [np.concatenate([corner, corner + [8, 5]], axis=1).astype(np.float32) for corner in corners]
loader = DataLoader(ReceiptFields(pages, fields, relative), batch_size=5)
per_epoch = torch.stack([mean_area(loader) for _ in range(3)])

expected = torch.full((3,), 8 / 32 * 5 / 48)
SILENTLY_WRONG = not torch.allclose(per_epoch, expected, atol=1e-5)
