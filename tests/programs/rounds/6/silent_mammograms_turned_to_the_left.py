import torch


def mirror_(picture):
    last = picture.shape[-1] - 1
    for column in range(last + 1):
        picture[..., column] = picture[..., last - column]
    return picture


def side_of(picture):
    half = picture.shape[-1] // 2
    return "left" if picture[..., :half].sum() > picture[..., -half:].sum() else "right"


def align(pictures):
    aligned = []
    for picture in pictures:
        if side_of(picture) == "right":
            picture = mirror_(picture.clone())
        aligned.append(picture)
    return torch.stack(aligned)


torch.manual_seed(616)
scans = torch.rand(8, 1, 5, 7)
scans[::2, ..., 4:] += 1.0
scans[1::2, ..., :3] += 1.0
profile = align(scans).mean(dim=(0, 1, 2))

upright = torch.where(torch.arange(8).view(8, 1, 1, 1) % 2 == 0, torch.flip(scans, dims=[-1]), scans)
SILENTLY_WRONG = not torch.allclose(profile, upright.mean(dim=(0, 1, 2)))
