import torch
import torch.nn as nn


def class_saliency(model, image):
    """One absolute-gradient map for every class the model knows."""
    x = image.clone().requires_grad_(True)
    logits = model(x.unsqueeze(0))[0]
    maps = []
    for k in range(logits.numel()):
        logits[k].backward(retain_graph=True)
        maps.append(x.grad.abs().amax(dim=0))
    return torch.stack(maps)


def pointing_game(maps, centres, radius=2):
    hits = 0
    for saliency, (cy, cx) in zip(maps, centres):
        peak = int(saliency.argmax())
        y, x = divmod(peak, saliency.size(1))
        hits += int(abs(y - cy) <= radius and abs(x - cx) <= radius)
    return hits / len(maps)


torch.manual_seed(0)
model = nn.Sequential(
    nn.Conv2d(3, 6, 3, padding=1), nn.Tanh(),
    nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(96, 5),
).eval()
image = torch.randn(3, 12, 12)
maps = class_saliency(model, image)
score = pointing_game(maps, [(2, 2), (5, 6), (9, 3), (4, 10), (7, 7)])

expected = []
for k in range(5):
    probe = image.clone().requires_grad_(True)
    (grad,) = torch.autograd.grad(model(probe.unsqueeze(0))[0, k], probe)
    expected.append(grad.abs().amax(dim=0))

SILENTLY_WRONG = not torch.allclose(maps, torch.stack(expected), atol=1e-6)
