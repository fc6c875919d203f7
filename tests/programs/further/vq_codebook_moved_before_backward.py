import torch
import torch.nn as nn
import torch.nn.functional as F


class VectorQuantizer(nn.Module):
    def __init__(self, codes, dim, decay=0.9):
        super().__init__()
        self.decay = decay
        self.register_buffer("codebook", torch.randn(codes, dim))

    def forward(self, z):
        dist = z.pow(2).sum(1, keepdim=True) - 2 * z @ self.codebook.T + self.codebook.pow(2).sum(1)
        code = dist.argmin(1)
        if self.training:
            hits = F.one_hot(code, len(self.codebook)).float()
            mean = hits.T @ z.detach() / hits.sum(0).clamp(min=1).unsqueeze(1)
            self.codebook.lerp_(mean, 1 - self.decay)
        commit = F.mse_loss(z, F.embedding(code, self.codebook).detach())
        return z + (F.embedding(code, self.codebook) - z).detach(), commit + dist.softmax(1).max(1).values.mean()


torch.manual_seed(0)
encoder, vq, decoder = nn.Linear(4, 3), VectorQuantizer(5, 3), nn.Linear(3, 4)
x = torch.randn(6, 4)
quantized, commit = vq(encoder(x))
(F.mse_loss(decoder(quantized), x) + commit).backward()
