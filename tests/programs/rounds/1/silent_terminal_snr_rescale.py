from dataclasses import dataclass

import torch


@dataclass
class NoiseSchedule:
    betas: torch.Tensor
    alphas_bar: torch.Tensor

    def add_noise(self, x0, noise, t):
        a = self.alphas_bar[t].sqrt().view(-1, 1)
        s = (1 - self.alphas_bar[t]).sqrt().view(-1, 1)
        return a * x0 + s * noise


def rescale_terminal_snr(betas):
    alphas_bar_sqrt = torch.cumprod(1.0 - betas, dim=0).sqrt()
    first = alphas_bar_sqrt[0]
    last = alphas_bar_sqrt[-1].item()
    alphas_bar_sqrt -= last
    alphas_bar_sqrt *= first / (first - last)
    alphas_bar = alphas_bar_sqrt ** 2
    alphas = torch.cat([alphas_bar[:1], alphas_bar[1:] / alphas_bar[:-1]])
    return NoiseSchedule(1.0 - alphas, alphas_bar)


torch.manual_seed(0)
steps = 50
betas = torch.linspace(1e-3, 0.06, steps)
schedule = rescale_terminal_snr(betas)

x0 = torch.randn(4, 8)
noise = torch.randn(4, 8)
t = torch.tensor([0, 10, 25, 49])
noisy = schedule.add_noise(x0, noise, t)

root = torch.cumprod(1.0 - torch.linspace(1e-3, 0.06, steps), dim=0).sqrt().tolist()
shifted = torch.tensor([(r - root[-1]) * root[0] / (root[0] - root[-1]) for r in root])
expected = shifted[t].view(-1, 1) * x0 + (1 - shifted[t] ** 2).sqrt().view(-1, 1) * noise

SILENTLY_WRONG = not torch.allclose(noisy, expected, atol=1e-4)
