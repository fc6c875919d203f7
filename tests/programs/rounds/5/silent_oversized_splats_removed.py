import torch


class SplatPool:
    def __init__(self, capacity):
        self.xyz = torch.zeros(capacity, 3)
        self.scale = torch.zeros(capacity)
        self.opacity = torch.zeros(capacity)
        self.screen_radius = torch.zeros(capacity)
        self.count = 0

    def append(self, xyz, scale, opacity):
        end = self.count + len(xyz)
        self.xyz[self.count:end] = xyz
        self.scale[self.count:end] = scale
        self.opacity[self.count:end] = opacity
        self.screen_radius.zero_()
        self.count = end

    def observe(self, focal):
        n = self.count
        radius = focal * self.scale[:n] / self.xyz[:n, 2]
        torch.maximum(self.screen_radius[:n], radius, out=self.screen_radius[:n])

    def keep(self, mask):
        kept = int(mask.sum())
        for buffer in (self.xyz, self.scale, self.opacity, self.screen_radius):
            buffer[:kept] = buffer[:self.count][mask]
        self.count = kept

    def densify_and_prune(self, gradient, threshold, largest):
        n = self.count
        grow = gradient > threshold
        self.append(self.xyz[:n][grow], self.scale[:n][grow], self.opacity[:n][grow])
        visible = self.opacity[:self.count] > 0.05
        fits = self.screen_radius[:self.count] <= largest
        self.keep(visible & fits)


torch.manual_seed(15)
xyz = torch.rand(40, 3) + torch.tensor([0.0, 0.0, 1.0])
scale, opacity, gradient = 0.2 * torch.rand(40), torch.rand(40), torch.rand(40)
pool = SplatPool(128)
pool.append(xyz, scale, opacity)
for focal in (10.0, 25.0, 15.0):
    pool.observe(focal)
pool.densify_and_prune(gradient, threshold=0.7, largest=2.0)

ok = (25.0 * scale / xyz[:, 2] <= 2.0) & (opacity > 0.05)
copies = (gradient > 0.7) & (opacity > 0.05)
expected = torch.cat([xyz[ok], xyz[copies]])
SILENTLY_WRONG = not (pool.count == len(expected) and torch.equal(pool.xyz[:pool.count], expected))
