import torch
from torch import nn


class SpectralLayer(nn.Module):
    def __init__(self, channels, modes):
        super().__init__()
        self.modes = modes
        self.weight = nn.Parameter(torch.empty(channels, channels, modes, 2))
        with torch.no_grad():
            complex_weight = torch.view_as_complex(self.weight)
            complex_weight.real.normal_(std=0.3)
            complex_weight.imag.normal_(std=0.3)
            complex_weight[..., 0].imag.zero_()

    def forward(self, x):
        spectrum = torch.fft.rfft(x)
        out = torch.zeros_like(spectrum)
        weight = torch.view_as_complex(self.weight)
        out[..., :self.modes] = torch.einsum("bim,iom->bom", spectrum[..., :self.modes], weight)
        return torch.fft.irfft(out, n=x.shape[-1])


torch.manual_seed(18)
layer = SpectralLayer(3, 4)
start = layer.weight.detach().clone()
x, y = torch.randn(5, 3, 16), torch.randn(5, 3, 16)
optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
for _ in range(4):
    loss = (layer(x) - y).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

a, b = start[..., 0].clone().requires_grad_(), start[..., 1].clone().requires_grad_()
n, m = torch.arange(16), torch.arange(4)
cos, sin = torch.cos(2 * torch.pi * n[:, None] * m / 16), torch.sin(2 * torch.pi * n[:, None] * m / 16)
fold = torch.tensor([1.0, 2.0, 2.0, 2.0]) / 16
for _ in range(4):
    real, imag = x @ cos, -x @ sin
    p = torch.einsum("bim,iom->bom", real, a) - torch.einsum("bim,iom->bom", imag, b)
    q = torch.einsum("bim,iom->bom", real, b) + torch.einsum("bim,iom->bom", imag, a)
    loss = ((p * fold) @ cos.t() - (q * fold) @ sin.t() - y).square().mean()
    g_a, g_b = torch.autograd.grad(loss, (a, b))
    a = (a - 0.1 * g_a).detach().requires_grad_()
    b = (b - 0.1 * g_b).detach().requires_grad_()
SILENTLY_WRONG = not torch.allclose(layer.weight, torch.stack([a, b], dim=-1), atol=1e-4)
