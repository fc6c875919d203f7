import numpy as np
import torch


class Scene:
    def __init__(self, green, near, smoke):
        self.green, self.near, self.smoke = green, near, smoke

    def clear(self, band):
        return np.ma.masked_where(self.smoke.numpy(), band.numpy())


def water(scene):
    green, near = scene.clear(scene.green), scene.clear(scene.near)
    total = green + near
    green -= near
    green /= total
    return torch.from_numpy(green.filled(0.0))


def brightness(scene):
    light = scene.clear(scene.green)
    light += scene.clear(scene.near)
    light *= 0.5
    return torch.from_numpy(light.filled(0.0))


def survey(scene):
    index, light = water(scene), brightness(scene)
    share = (index > 0).float().mean()
    return share, light, scene.green.mean()


torch.manual_seed(30)
green, near, smoke = torch.rand(10, 12) * 0.5, torch.rand(10, 12) * 0.6, torch.rand(10, 12) < 0.2
share, light, mean = survey(Scene(green.clone(), near.clone(), smoke))

clear = ~smoke
right = torch.allclose(share, ((green > near) & clear).float().mean())
right = right and torch.allclose(light, (green + near) / 2 * clear)
SILENTLY_WRONG = not (right and torch.allclose(mean, green.mean()))
