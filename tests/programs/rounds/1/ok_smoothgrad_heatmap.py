import torch
import torch.nn as nn


def smoothgrad(model, image, target, noises):
    """Mean input gradient over noisy copies of one image."""
    x = image.clone().requires_grad_(True)
    for noise in noises:
        model((x + noise).unsqueeze(0))[0, target].backward()
    return x.grad.div_(len(noises)).detach()


def heatmaps(model, image, classes, noises):
    maps = torch.empty(len(classes), *image.shape[1:])
    for row, k in zip(maps, classes):
        row.copy_(smoothgrad(model, image, k, noises).abs().sum(0))
    maps -= maps.amin(dim=(1, 2), keepdim=True)
    maps /= maps.amax(dim=(1, 2), keepdim=True).clamp_(min=1e-12)
    return maps


torch.manual_seed(0)
model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.Softplus(), nn.Flatten(), nn.Linear(4 * 36, 3)).eval()
model.requires_grad_(False)
image = torch.randn(3, 8, 8)
noises = [0.2 * torch.randn(3, 8, 8) for _ in range(5)]
maps = heatmaps(model, image, [0, 2], noises)

expected = []
for k in (0, 2):
    grads = []
    for noise in noises:
        probe = (image + noise).requires_grad_(True)
        grads.append(torch.autograd.grad(model(probe[None])[0, k], probe)[0])
    heat = torch.stack(grads).mean(0).abs().sum(0)
    expected.append((heat - heat.min()) / (heat.max() - heat.min()))
SILENTLY_WRONG = not torch.allclose(maps, torch.stack(expected), atol=1e-4)
