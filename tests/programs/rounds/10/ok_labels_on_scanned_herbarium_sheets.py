import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class HerbariumSheets(Dataset):
    def __init__(self, sheets, labels, transforms):
        self.sheets = sheets
        self.labels = labels
        self.transforms = transforms

    def __len__(self):
        return len(self.sheets)

    def __getitem__(self, number):
        sheet = torch.as_tensor(self.sheets[number])
        boxes = torch.tensor(self.labels[number])
        for transform in self.transforms:
            sheet, boxes = transform(sheet, boxes)
        return sheet, boxes


def relative(sheet, boxes):
    height, width = sheet.shape[-2:]
    boxes[:, 0::2] /= width
    boxes[:, 1::2] /= height
    return sheet, boxes


def bright(sheet, boxes):
    return sheet / 255, boxes


def mean_centre(loader):
    return torch.cat([(boxes[..., :2] + boxes[..., 2:]) / 2 for _, boxes in loader]).mean(dim=(0, 1))


rng = np.random.default_rng(105)
sheets = [rng.integers(0, 255, (1, 40, 30)).astype(np.float32) for _ in range(8)]
corners = rng.uniform(0, 20, (8, 2, 2)).astype(np.float32)
labels = [np.concatenate([corner, corner + np.float32(6)], axis=1) for corner in corners]
loader = DataLoader(HerbariumSheets(sheets, labels, [relative, bright]), batch_size=4)
per_epoch = torch.stack([mean_centre(loader) for _ in range(3)])

centre = corners.mean(axis=(0, 1)) + 3
expected = torch.tensor([centre[0] / 30, centre[1] / 40]).expand(3, 2)
SILENTLY_WRONG = not torch.allclose(per_epoch, expected, atol=1e-5)
