import torch


class CornerCrop:
    def __init__(self, side):
        self.places = torch.arange(side)

    def __call__(self, photos):
        return photos[:, :, self.places[:, None], self.places]


class Standardise:
    def __call__(self, photos):
        centre = photos.mean(dim=(-2, -1), keepdim=True)
        spread = photos.std(dim=(-2, -1), keepdim=True)
        return photos.sub_(centre).div_(spread)


class Chain:
    def __init__(self, *stages):
        self.stages = stages

    def __call__(self, photos):
        for stage in self.stages:
            photos = stage(photos)
        return photos


def bright_share(photos, level):
    return (photos > level).float().mean(dim=(-2, -1)).squeeze(1)


def examine(batches, prepare, level):
    texture, bright = [], []
    for photos in batches:
        corner = prepare(photos)
        texture.append((corner[..., 1:] - corner[..., :-1]).abs_().mean())
        bright.append(bright_share(photos, level))
    return torch.stack(texture), torch.cat(bright)


torch.manual_seed(244)
photos = torch.rand(12, 1, 16, 16)
given = photos.clone()
texture, bright = examine(photos.split(4), Chain(CornerCrop(8), Standardise()), 0.6)
expected = torch.tensor([sum(value > 0.6 for value in photo) / 256 for photo in given.flatten(1).tolist()])
parts = given[:, 0, :8, :8]
steps = (parts[:, :, 1:] - parts[:, :, :-1]).abs() / parts.flatten(1).std(dim=1)[:, None, None]
right = torch.allclose(texture, steps.view(3, -1).mean(dim=1), atol=1e-5)
SILENTLY_WRONG = not (right and torch.allclose(bright, expected))
