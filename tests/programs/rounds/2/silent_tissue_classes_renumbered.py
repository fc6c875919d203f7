import torch


class RemapLabels:
    def __init__(self, mapping):
        self.mapping = mapping

    def __call__(self, sample):
        mask = sample["mask"].clone()
        for old, new in self.mapping.items():
            mask[mask == old] = new
        return {**sample, "mask": mask}


class VolumeFraction:
    def __init__(self, classes):
        self.classes = classes

    def __call__(self, sample):
        counts = torch.bincount(sample["mask"].flatten(), minlength=self.classes)
        return counts / sample["mask"].numel()


torch.manual_seed(0)
mask = torch.randint(0, 4, (6, 6, 6))
sample = {"image": torch.rand(6, 6, 6), "mask": mask}

remap = RemapLabels({1: 2, 2: 3, 3: 1})
fractions = VolumeFraction(4)(remap(sample))

original = [int((mask == c).sum()) for c in range(4)]
expected = torch.tensor([original[0], original[3], original[1], original[2]]) / mask.numel()
SILENTLY_WRONG = not torch.allclose(fractions, expected)
