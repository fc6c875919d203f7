import torch


class RandomCrops:
    def __init__(self, size, count, seed):
        self.size, self.count = size, count
        self.generator = torch.Generator().manual_seed(seed)

    def __call__(self, scan):
        crops = []
        for _ in range(self.count):
            free = torch.tensor(scan["image"].shape) - self.size
            corner = (torch.rand(3, generator=self.generator) * (free + 1)).long()
            x, y, z = corner.tolist()
            crop = dict(scan)
            crop["image"] = scan["image"][x:x + self.size, y:y + self.size, z:z + self.size]
            crop["affine"][:3, 3] += crop["affine"][:3, :3] @ corner.double()
            crops.append(crop)
        return crops


def brightest_point(crop):
    flat = int(crop["image"].argmax())
    size = crop["image"].shape[0]
    voxel = torch.tensor([flat // size ** 2, flat // size % size, flat % size], dtype=torch.double)
    return crop["affine"][:3, :3] @ voxel + crop["affine"][:3, 3]


torch.manual_seed(810)
affine = torch.diag(torch.tensor([0.5, 0.5, 2.0, 1.0], dtype=torch.double))
affine[:3, 3] = torch.tensor([-10.0, 4.0, 30.0])
scan = {"image": torch.rand(16, 16, 16), "affine": affine, "depth": 120.0}
scan["image"][8, 7, 9] = 5.0
spot = torch.tensor([-10.0 + 8 * 0.5, 4.0 + 7 * 0.5, 30.0 + 9 * 2.0], dtype=torch.double)

crops = RandomCrops(size=13, count=6, seed=3)(scan)
found = torch.stack([brightest_point(crop) for crop in crops])
SILENTLY_WRONG = not torch.allclose(found, spot.expand(6, 3), atol=1e-6)
