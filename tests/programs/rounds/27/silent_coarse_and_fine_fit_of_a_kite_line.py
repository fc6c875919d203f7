import torch


def curve(x, sag, lean):
    return sag * (torch.cosh(x) - 1) + lean * x


def fit(x, height, sag, lean, coarse_steps=40, fine_steps=40):
    groups = [
        {"params": [sag]},
        {"params": [lean], "weight_decay": 0.01},
    ]
    coarse = torch.optim.SGD(groups, lr=0.2, momentum=0.5)
    fine = torch.optim.SGD(groups, lr=0.01)
    for step in range(coarse_steps + fine_steps):
        optimizer = coarse if step < coarse_steps else fine
        rows = torch.arange(step % 4, len(x), 4)
        loss = (curve(x[rows], sag, lean) - height[rows]).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return sag.detach(), lean.detach()


torch.manual_seed(9)
x = torch.linspace(0, 1.5, 32, dtype=torch.float64)
height = curve(x, 2.0, 0.7) + 0.4 * torch.randn(32, dtype=torch.float64)
sag = torch.tensor(0.5, dtype=torch.float64, requires_grad=True)
lean = torch.tensor(0.0, dtype=torch.float64, requires_grad=True)
fitted = fit(x, height, sag, lean)
print("sag %.4f, lean %.4f" % tuple(float(v) for v in fitted))

s, l, vs, vl = 0.5, 0.0, 0.0, 0.0
shape = torch.cosh(x) - 1
for step in range(80):
    part = slice(step % 4, None, 4)
    off = s * shape[part] + l * x[part] - height[part]
    gs, gl = float(2 * (off * shape[part]).mean()), float(2 * (off * x[part]).mean()) + 0.01 * l
    if step < 40:
        vs, vl = (gs, gl) if step == 0 else (0.5 * vs + gs, 0.5 * vl + gl)
        s, l = s - 0.2 * vs, l - 0.2 * vl
    else:
        s, l = s - 0.01 * gs, l - 0.01 * gl
expected = torch.tensor([s, l], dtype=torch.float64)
SILENTLY_WRONG = not torch.allclose(torch.stack(fitted), expected, atol=1e-6)
