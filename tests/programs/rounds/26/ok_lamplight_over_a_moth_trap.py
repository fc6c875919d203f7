import torch


def trap_light(night, lamp, halo):
    """Light on the sheet for each hour: the night's own and that of the dimmed lamp."""
    sheet = night.expand(len(lamp), *night.shape).clone()
    for hour, power in zip(sheet, lamp):
        hour += power * halo
    return sheet


def dark_spots(photos, sheet, depth):
    """Number of pixels that are darker than the empty sheet would be, for each hour."""
    return (sheet - photos > depth).flatten(1).sum(dim=1)


torch.manual_seed(33)
size, hours = 20, 5
night = 2 + 0.2 * torch.rand(size, size)
before = night.clone()
y, x = torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")
halo = torch.exp(-((y - 10.0).square() + (x - 10.0).square()) / 60)
lamp = torch.tensor([40.0, 35.0, 30.0, 20.0, 10.0])

photos = night + lamp[:, None, None] * halo
moths = [3, 5, 2, 4, 1]
for hour, count in enumerate(moths):
    photos[hour, 9, 8 : 8 + count] -= 5
sheet = trap_light(night, lamp, halo)
spots = dark_spots(photos, sheet, depth=3.0)
print("moths", spots.tolist())

SILENTLY_WRONG = spots.tolist() != moths or not torch.equal(night, before)
