import torch
import torch.nn as nn
import torch.nn.functional as F


class MoCo(nn.Module):
    def __init__(self, width, size):
        super().__init__()
        self.encoder = nn.Linear(6, width)
        self.register_buffer("queue", F.normalize(torch.randn(width, size), dim=0))
        self.ptr = 0

    @torch.no_grad()
    def enqueue(self, keys):
        self.queue[:, self.ptr : self.ptr + len(keys)] = keys.t()
        self.ptr = (self.ptr + len(keys)) % self.queue.shape[1]

    def forward(self, x, keys):
        q = F.normalize(self.encoder(x), dim=1)
        l_neg = q @ self.queue
        l_pos = (q * keys).sum(1, keepdim=True)
        self.enqueue(keys)
        return torch.cat([l_pos, l_neg], dim=1) / 0.07


torch.manual_seed(0)
moco = MoCo(4, 8)
keys = F.normalize(torch.randn(2, 4), dim=1)
logits = moco(torch.randn(2, 6), keys)
F.cross_entropy(logits, torch.zeros(2, dtype=torch.long)).backward()
