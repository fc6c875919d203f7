import torch


def denoiser(latent, time, text):
    return torch.tanh(latent * (0.3 + time) + text)


def guided(latent, time, text, scale, share):
    both = denoiser(torch.cat([latent, latent]), time, torch.cat([torch.zeros_like(text), text]))
    free, bound = both.chunk(2)
    dims = list(range(1, bound.ndim))
    level = bound.std(dim=dims, keepdim=True)
    mixed = bound.sub_(free).mul_(scale).add_(free)
    ratio = level.div_(mixed.std(dim=dims, keepdim=True))
    return mixed.mul_(ratio.mul_(share).add_(1 - share))


@torch.no_grad()
def knit(latent, text, steps=5, scale=6.0, share=0.6):
    times = torch.linspace(1.0, 0.0, steps + 1)
    for now, after in zip(times[:-1], times[1:]):
        latent.add_(guided(latent, now, text, scale, share), alpha=float(after - now))
    return latent


torch.manual_seed(440)
start, text = torch.randn(2, 3, 6, 6), torch.randn(2, 3, 1, 1)
image = knit(start.clone(), text)

latent = start
for k in range(5):
    now = 1 - k / 5
    free = torch.tanh(latent * (0.3 + now))
    bound = torch.tanh(latent * (0.3 + now) + text)
    mixed = free + 6.0 * (bound - free)
    ratio = bound.flatten(1).std(dim=1) / mixed.flatten(1).std(dim=1)
    latent = latent - 0.2 * mixed * (0.6 * ratio.view(2, 1, 1, 1) + 0.4)
SILENTLY_WRONG = not torch.allclose(image, latent, atol=1e-4)
