import torch


class WindowCache:
    """Keys and values of the last words only, in memory of a fixed size."""

    def __init__(self, window, size):
        self.keys = torch.zeros(window, size)
        self.values = torch.zeros(window, size)
        self.filled = 0

    def update(self, key, value):
        for rows, new in ((self.keys, key), (self.values, value)):
            if self.filled == len(rows):
                rows[:-1] = rows[1:].clone()
                rows[-1] = new
            else:
                rows[self.filled] = new
        self.filled = min(self.filled + 1, len(self.keys))
        return self.keys[:self.filled], self.values[:self.filled]

    def reset(self):
        self.keys.zero_()
        self.values.zero_()
        self.filled = 0


def caption(words, maps, cache):
    heard = []
    for word in words:
        query, key, value = (m @ word for m in maps)
        keys, values = cache.update(key, value)
        heard.append((keys @ query / len(query) ** 0.5).softmax(dim=0) @ values)
    return torch.stack(heard)


torch.manual_seed(43)
maps = torch.randn(3, 6, 6) / 2
news, weather = torch.randn(15, 6), torch.randn(9, 6)
cache = WindowCache(window=5, size=6)
first = caption(news, maps, cache)
cache.reset()
second = caption(weather, maps, cache)
print("mean of the captions", first.mean().item(), second.mean().item())


def whole(words):
    q, k, v = (words @ m.T for m in maps)
    apart = torch.arange(len(words))[:, None] - torch.arange(len(words))
    scores = (q @ k.T / 6 ** 0.5).masked_fill((apart < 0) | (apart >= 5), float("-inf"))
    return scores.softmax(dim=1) @ v


SILENTLY_WRONG = not (torch.allclose(first, whole(news), atol=1e-4)
                      and torch.allclose(second, whole(weather), atol=1e-4))
