import torch


class ToCentre:
    def __call__(self, sample):
        boxes = sample["boxes"].clone()
        boxes[:, 2:] -= boxes[:, :2]
        boxes[:, :2] += boxes[:, 2:] / 2
        return dict(sample, boxes=boxes)


class ToShare:
    def __init__(self, width, height):
        self.scale = torch.tensor([width, height, width, height], dtype=torch.float64)

    def __call__(self, sample):
        sample["boxes"].div_(self.scale)
        return sample


class Hives(torch.utils.data.Dataset):
    def __init__(self, samples, steps):
        self.samples, self.steps = samples, steps

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, i):
        sample = self.samples[i]
        for step in self.steps:
            sample = step(sample)
        return sample


torch.manual_seed(250)
samples = []
for number in range(5):
    corner = torch.rand(3, 2, dtype=torch.float64) * 100
    samples.append({"id": number, "boxes": torch.cat([corner, corner + 5 + 40 * torch.rand(3, 2, dtype=torch.float64)], dim=1)})
rows = [sample["boxes"].tolist() for sample in samples]
hives = Hives(samples, [ToCentre(), ToShare(200, 160)])
found = torch.stack([torch.cat([hives[i]["boxes"] for i in range(5)]) for _ in range(3)])

expected = [
    [(a + c) / 2 / 200, (b + d) / 2 / 160, (c - a) / 200, (d - b) / 160]
    for table in rows for a, b, c, d in table
]
SILENTLY_WRONG = not torch.allclose(found, torch.tensor([expected] * 3, dtype=torch.float64))
