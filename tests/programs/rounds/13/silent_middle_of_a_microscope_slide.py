import torch


class CentreCrop:
    def __init__(self, side):
        self.side = side

    def __call__(self, slides):
        top = (slides.shape[-2] - self.side) // 2
        left = (slides.shape[-1] - self.side) // 2
        return slides[..., top:top + self.side, left:left + self.side]


class Standardise:
    def __call__(self, slides):
        centre = slides.mean(dim=(-2, -1), keepdim=True)
        spread = slides.std(dim=(-2, -1), keepdim=True)
        return slides.sub_(centre).div_(spread)


class Chain:
    def __init__(self, *stages):
        self.stages = stages

    def __call__(self, slides):
        for stage in self.stages:
            slides = stage(slides)
        return slides


def stained_share(slides, level):
    return (slides > level).float().mean(dim=(-2, -1)).squeeze(1)


def examine(batches, prepare, level):
    texture, stained = [], []
    for slides in batches:
        middle = prepare(slides)
        texture.append((middle[..., 1:] - middle[..., :-1]).abs().mean())
        stained.append(stained_share(slides, level))
    return torch.stack(texture), torch.cat(stained)


torch.manual_seed(144)
slides = torch.rand(12, 1, 16, 16)
given = slides.clone()
texture, stained = examine(slides.split(4), Chain(CentreCrop(8), Standardise()), 0.6)
expected = torch.tensor([sum(value > 0.6 for value in slide) / 256 for slide in given.flatten(1).tolist()])
SILENTLY_WRONG = not torch.allclose(stained, expected)
