import torch
import torch.nn as nn


class SlidingCache:
    def __init__(self, heads, window, width):
        self.keys = torch.zeros(heads, window, width)
        self.values = torch.zeros(heads, window, width)
        self.written, self.window = 0, window

    def push(self, key, value):
        slot = torch.tensor([self.written % self.window])
        self.keys.index_copy_(1, slot, key)
        self.values.index_copy_(1, slot, value)
        self.written += 1
        filled = min(self.written, self.window)
        return self.keys[:, :filled], self.values[:, :filled]


class Attention(nn.Module):
    def __init__(self, heads, width):
        super().__init__()
        self.heads, self.mix = heads, nn.Linear(heads * width, 3 * heads * width)

    def forward(self, word, cache):
        query, key, value = self.mix(word).view(3, self.heads, 1, -1).unbind(0)
        keys, values = cache.push(key, value)
        scores = query @ keys.transpose(1, 2)
        return scores.div_(keys.shape[-1] ** 0.5).softmax(dim=-1).matmul(values).flatten()


torch.manual_seed(71)
attention, words = Attention(2, 4), torch.randn(11, 8)
cache, outputs = SlidingCache(2, 5, 4), []
with torch.no_grad():
    for word in words:
        outputs.append(attention(word, cache))
    q, k, v = attention.mix(words).view(11, 3, 2, 4).permute(1, 2, 0, 3)
    distance = torch.arange(11)[:, None] - torch.arange(11)
    scores = (q @ k.transpose(1, 2) / 2).masked_fill((distance < 0) | (distance >= 5), float("-inf"))
    expected = (scores.softmax(dim=-1) @ v).transpose(0, 1).flatten(1)
SILENTLY_WRONG = not torch.allclose(torch.stack(outputs), expected, atol=1e-5)
