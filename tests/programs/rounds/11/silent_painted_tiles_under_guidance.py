import torch


def denoiser(latent, time, text):
    return torch.tanh(latent * (0.3 + time) + text)


def guided(latent, time, text, scale, share):
    both = denoiser(torch.cat([latent, latent]), time, torch.cat([torch.zeros_like(text), text]))
    free, bound = both.chunk(2)
    mixed = bound.sub_(free).mul_(scale).add_(free)
    dims = list(range(1, mixed.ndim))
    level = bound.std(dim=dims, keepdim=True)
    evened = mixed * (level / mixed.std(dim=dims, keepdim=True))
    return share * evened + (1 - share) * mixed


@torch.no_grad()
def paint(latent, text, steps=6, scale=7.5, share=0.7):
    times = torch.linspace(1.0, 0.0, steps + 1)
    for now, after in zip(times[:-1], times[1:]):
        noise = guided(latent, now, text, scale, share)
        latent = latent + (after - now) * noise
    return latent


torch.manual_seed(44)
start, text = torch.randn(2, 3, 8, 8), torch.randn(2, 3, 1, 1)
image = paint(start.clone(), text)

latent = start.clone()
grid = [1 - k / 6 for k in range(7)]
for k in range(6):
    free = torch.tanh(latent * (0.3 + grid[k]))
    bound = torch.tanh(latent * (0.3 + grid[k]) + text)
    mixed = free + 7.5 * (bound - free)
    ratio = bound.flatten(1).std(dim=1) / mixed.flatten(1).std(dim=1)
    latent = latent + (grid[k + 1] - grid[k]) * mixed * (0.7 * ratio.view(2, 1, 1, 1) + 0.3)
SILENTLY_WRONG = not torch.allclose(image, latent, atol=1e-4)
