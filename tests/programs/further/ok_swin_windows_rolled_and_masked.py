import torch
import torch.nn as nn


def windows(x, w):
    b, h, v, c = x.shape
    return x.view(b, h // w, w, v // w, w, c).transpose(2, 3).reshape(-1, w * w, c)


class SwinBlock(nn.Module):
    def __init__(self, dim=8, size=8, w=4, shift=2):
        super().__init__()
        self.w, self.shift, self.dim = w, shift, dim
        self.norm, self.qkv, self.proj = nn.LayerNorm(dim), nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        img, count = torch.zeros(1, size, size, 1), 0
        for rows in (slice(0, -w), slice(-w, -shift), slice(-shift, None)):
            for cols in (slice(0, -w), slice(-w, -shift), slice(-shift, None)):
                img[:, rows, cols, :] = count
                count += 1
        ids = windows(img, w).squeeze(-1)
        mask = ids.unsqueeze(1) - ids.unsqueeze(2)
        mask = mask.masked_fill(mask != 0, -100.0).masked_fill_(mask == 0, 0.0)
        self.register_buffer("mask", mask)

    def forward(self, x):
        shortcut = x
        x = torch.roll(self.norm(x), (-self.shift, -self.shift), (1, 2))
        q, k, v = self.qkv(windows(x, self.w)).chunk(3, -1)
        q = q * self.dim**-0.5
        attn = q @ k.transpose(-2, -1)
        attn += self.mask.repeat(len(attn) // len(self.mask), 1, 1)
        out = self.proj(attn.softmax(-1) @ v).view(-1, 2, 2, 4, 4, self.dim).transpose(2, 3).reshape_as(shortcut)
        return shortcut + torch.roll(out, (self.shift, self.shift), (1, 2))


torch.manual_seed(0)
net = nn.Sequential(SwinBlock(), SwinBlock())
net(torch.randn(2, 8, 8, 8)).pow(2).mean().backward()
