import numpy as np
import torch


class Scene:
    def __init__(self, red, near, short, cloud):
        self.red, self.near, self.short, self.cloud = red, near, short, cloud

    def clear(self, band):
        return np.ma.masked_where(self.cloud.numpy(), band.numpy(), copy=False)


def vegetation(scene):
    near, red = scene.clear(scene.near), scene.clear(scene.red)
    total = near + red
    near -= red
    near /= total
    return torch.from_numpy(near.filled(0.0))


def moisture(scene):
    near, short = scene.clear(scene.near), scene.clear(scene.short)
    return torch.from_numpy(((near - short) / (near + short)).filled(0.0))


def survey(scene, fields, count):
    table = {}
    for name, index in (("green", vegetation), ("wet", moisture)):
        values = index(scene)
        sums = torch.zeros(count).index_add(0, fields.flatten(), values.flatten())
        table[name] = sums / torch.bincount(fields.flatten(), minlength=count)
    return table


torch.manual_seed(29)
red, near, short = (torch.rand(12, 16) * a + b for a, b in ((0.2, 0.1), (0.4, 0.4), (0.3, 0.2)))
cloud, fields = torch.rand(12, 16) < 0.25, torch.randint(0, 4, (12, 16))
table = survey(Scene(red.clone(), near.clone(), short.clone(), cloud), fields, 4)

index = (near - short) / (near + short) * (~cloud)
expected = torch.stack([index[fields == k].mean() for k in range(4)])
SILENTLY_WRONG = not torch.allclose(table["wet"], expected, atol=1e-5)
