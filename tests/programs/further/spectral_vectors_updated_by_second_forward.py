import torch
import torch.nn as nn
import torch.nn.functional as F


class SpectralLinear(nn.Module):
    def __init__(self, n_in, n_out):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(n_out, n_in))
        self.register_buffer("u", F.normalize(torch.randn(n_out), dim=0))

    def forward(self, x):
        with torch.no_grad():
            v = F.normalize(self.weight.t() @ self.u, dim=0)
            self.u.copy_(F.normalize(self.weight @ v, dim=0))
        sigma = torch.dot(self.u, self.weight @ v)
        return x @ (self.weight / sigma).t()


torch.manual_seed(0)
D = SpectralLinear(4, 3)
real, fake = torch.randn(5, 4), torch.randn(5, 4)
d_real = D(real).mean()
d_fake = D(fake).mean()
(d_fake - d_real).backward()
