import torch


def ray_weights(density, depths):
    gaps = depths[:, 1:] - depths[:, :-1]
    opaque = density.mul(gaps).neg_().exp_().neg_().add_(1)
    clear = torch.ones_like(opaque)
    torch.cumprod(1 - opaque[:, :-1], dim=1, out=clear[:, 1:])
    return clear.mul_(opaque)


def finer_depths(depths, weights, count, floor=0.01):
    shares = weights + floor
    shares /= shares.sum(dim=1, keepdim=True)
    sums = torch.zeros(len(shares), shares.shape[1] + 1)
    sums[:, 1:] = shares.cumsum_(dim=1)
    places = torch.linspace(0.05, 0.95, count).expand(len(weights), count).contiguous()
    above = torch.searchsorted(sums, places).clamp_(1, weights.shape[1])
    low, high = sums.gather(1, above - 1), sums.gather(1, above)
    start, end = depths.gather(1, above - 1), depths.gather(1, above)
    return start + (end - start).mul_(places.sub_(low)).div_(high.sub_(low))


class Camera:
    def __init__(self, near, far, steps):
        self.depths = torch.linspace(near, far, steps + 1)

    def render(self, density):
        depths = self.depths.expand(len(density), -1)
        weights = ray_weights(density, depths)
        finer = finer_depths(depths[:, 1:-1], weights[:, 1:-1], 8)
        middles = (depths[:, 1:] + depths[:, :-1]) / 2
        return {"opacity": weights.sum(dim=1), "depth": (weights * middles).sum(dim=1), "finer": finer}


torch.manual_seed(243)
density = torch.rand(6, 16) * 0.4
density[:, 7:9] += 2.0
camera = Camera(2.0, 6.0, 16)
out, again = camera.render(density), camera.render(density)

expected = 1 - torch.exp(-0.25 * density.sum(dim=1))
depth = []
for row in density.tolist():
    light, total = 1.0, 0.0
    for k, thick in enumerate(row):
        stop = 1 - 2.718281828459045 ** (-0.25 * thick)
        total, light = total + light * stop * (2.125 + 0.25 * k), light * (1 - stop)
    depth.append(total)
right = torch.allclose(out["opacity"], expected, atol=1e-4) and torch.equal(out["finer"], again["finer"])
SILENTLY_WRONG = not (right and torch.allclose(out["depth"], torch.tensor(depth), atol=1e-3))
