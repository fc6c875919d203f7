import torch


def groups(rise, tilt):
    return [{"params": [rise]}, {"params": [tilt], "weight_decay": 0.02}]


def arch(x, rise, tilt):
    return rise * (1 - x.square()) + tilt * x


def fit(x, y, rise, tilt):
    coarse = torch.optim.SGD(groups(rise, tilt), lr=0.3)
    fine = torch.optim.SGD(groups(rise, tilt), lr=0.02, momentum=0.8)
    for optimizer, steps in ((coarse, 25), (fine, 25)):
        for k in range(steps):
            rows = slice(k % 3, None, 3)
            optimizer.zero_grad()
            (arch(x[rows], rise, tilt) - y[rows]).square().mean().backward()
            optimizer.step()
    return torch.stack([rise, tilt]).detach()


torch.manual_seed(10)
x = torch.linspace(-1, 1, 27, dtype=torch.float64)
y = arch(x, 4.0, 0.6) + 0.3 * torch.randn(27, dtype=torch.float64)
rise = torch.zeros((), dtype=torch.float64, requires_grad=True)
tilt = torch.zeros((), dtype=torch.float64, requires_grad=True)
found = fit(x, y, rise, tilt)
print("rise and tilt", found.tolist())

r, t, vr, vt = 0.0, 0.0, None, None
for k in range(50):
    rows = slice((k % 25) % 3, None, 3)
    off = r * (1 - x[rows] ** 2) + t * x[rows] - y[rows]
    gr, gt = float(2 * (off * (1 - x[rows] ** 2)).mean()), float(2 * (off * x[rows]).mean()) + 0.02 * t
    if k < 25:
        r, t = r - 0.3 * gr, t - 0.3 * gt
    else:
        vr, vt = (gr, gt) if vr is None else (0.8 * vr + gr, 0.8 * vt + gt)
        r, t = r - 0.02 * vr, t - 0.02 * vt
SILENTLY_WRONG = not torch.allclose(found, torch.tensor([r, t], dtype=torch.float64), atol=1e-8)
