import torch


def sky_brightness(dark_sky, moon, glow):
    """Background of every frame of the night: the dark sky and the moonlight at that time."""
    sky = dark_sky.expand(len(moon), *dark_sky.shape)
    for frame, light in zip(sky, moon):
        frame += light * glow
    return sky


def find_meteors(frames, sky, limit):
    excess = (frames - sky).flatten(1).amax(dim=1)
    return (excess > limit).nonzero().squeeze(1)


torch.manual_seed(32)
height, width, times = 24, 32, 12
dark_sky = 10 + torch.rand(height, width)
glow = torch.linspace(1, 2, width).expand(height, width)
moon = torch.linspace(0, 6, times)

frames = dark_sky + moon[:, None, None] * glow + 0.1 * torch.randn(times, height, width)
frames[3, 10, 5:12] += 15
frames[8, 2:7, 20] += 15

sky = sky_brightness(dark_sky, moon, glow)
meteors = find_meteors(frames, sky, limit=8.0)
print("frames with a meteor", meteors.tolist())

SILENTLY_WRONG = meteors.tolist() != [3, 8]
