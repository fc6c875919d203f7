import torch


class ParticleFilter:
    def __init__(self, particles, noise):
        self.particles = particles.clone()
        self.log_w = torch.zeros(len(particles))
        self.noise = noise
        self.history = torch.empty(0, particles.shape[1])

    def predict(self, drift):
        self.particles += drift

    def observe(self, z):
        self.log_w.sub_(0.5 * ((self.particles[:, 0] - z) / self.noise) ** 2)

    def resample(self):
        cdf = self.log_w.softmax(0).cumsum(0)
        positions = (torch.arange(len(cdf)) + 0.5) / len(cdf)
        ancestors = torch.searchsorted(cdf, positions).clamp_(max=len(cdf) - 1)
        self.particles[:] = self.particles[ancestors]
        self.log_w.zero_()
        self.history = torch.cat([self.history, self.particles.mean(0, keepdim=True)])


torch.manual_seed(0)
start = torch.randn(16, 2).sort(dim=0).values
drift = torch.tensor([0.1, -0.2])
pf = ParticleFilter(start, noise=0.4)
current, means = start, []
for z in (-0.9, -0.6, -0.5):
    pf.predict(drift)
    pf.observe(z)
    pf.resample()

    current = current + drift
    w = (-0.5 * ((current[:, 0] - z) / 0.4) ** 2).softmax(0)
    index = torch.searchsorted(w.cumsum(0), (torch.arange(16) + 0.5) / 16).clamp(max=15)
    current = current[index]
    means.append(current.mean(0))

expected = torch.stack(means)
SILENTLY_WRONG = not torch.allclose(pf.history, expected, atol=1e-6)
