import torch
import torch.nn as nn


class ModulatedBlock(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.norm = nn.LayerNorm(dim, elementwise_affine=False)
        self.mlp = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))
        self.modulation = nn.Linear(dim, 3 * dim)

    def forward(self, x, cond):
        shift, scale, gate = self.modulation(cond).unsqueeze(1).chunk(3, dim=-1)
        h = self.norm(x) * (1 + scale) + shift
        return x + gate * self.mlp(h)


class Denoiser(nn.Module):
    def __init__(self, dim=8, depth=3):
        super().__init__()
        self.blocks = nn.ModuleList(ModulatedBlock(dim) for _ in range(depth))
        self.final = nn.Linear(dim, dim)
        self.initialize_weights()

    def initialize_weights(self):
        def basic_init(m):
            if isinstance(m, nn.Linear):
                nn.init.xavier_uniform_(m.weight)
                nn.init.zeros_(m.bias)

        self.apply(basic_init)
        for block in self.blocks:
            nn.init.zeros_(block.modulation.weight)
            nn.init.zeros_(block.modulation.bias)

    def forward(self, x, cond):
        for block in self.blocks:
            x = block(x, cond)
        return self.final(x)


torch.manual_seed(0)
model = Denoiser()
x, cond = torch.randn(2, 5, 8), torch.randn(2, 8)
with torch.no_grad():
    out = model(x, cond)
    expected = x @ model.final.weight.t()
SILENTLY_WRONG = not torch.allclose(out, expected, atol=1e-5)
