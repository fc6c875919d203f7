import torch


class ParticleFilter:
    def __init__(self, particles, noise):
        self.particles = particles
        self.noise = noise
        self.log_w = torch.zeros(len(particles))

    def observe(self, z):
        self.log_w = self.log_w - 0.5 * ((self.particles[:, 0] - z) / self.noise) ** 2

    def ancestors(self):
        w = self.log_w.softmax(0)
        positions = (torch.arange(len(w)) + 0.5) / len(w)
        return torch.searchsorted(w.cumsum(0), positions).clamp_(max=len(w) - 1)

    def resample(self):
        for i, j in enumerate(self.ancestors().tolist()):
            self.particles[i] = self.particles[j]
        self.log_w.zero_()

    def mean(self):
        return self.log_w.softmax(0) @ self.particles


torch.manual_seed(0)
start = torch.randn(16, 2).sort(dim=0).values
pf = ParticleFilter(start.clone(), noise=0.4)
pf.observe(-0.9)
index = pf.ancestors()
pf.resample()
estimate = pf.mean()

expected = start[index].mean(0)
SILENTLY_WRONG = not torch.allclose(estimate, expected, atol=1e-5)
