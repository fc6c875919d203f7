import torch
import torch.nn as nn


class Library:
    def __init__(self, words, vectors):
        self.places = {word: k for k, word in enumerate(words)}
        self.vectors = vectors
        self.bags = nn.EmbeddingBag.from_pretrained(vectors, mode="mean", max_norm=1.0)

    def rows(self, title):
        return torch.tensor([[self.places[word] for word in title.split()]])

    def embed(self, titles):
        return torch.cat([self.bags(self.rows(title)) for title in titles])

    def weight(self, title):
        return self.vectors[self.rows(title)[0]].norm(dim=1).mean()

    def rank(self, query, titles):
        found = torch.cosine_similarity(self.embed([query]), self.embed(titles))
        weights = torch.stack([self.weight(title) for title in titles])
        return found * weights


torch.manual_seed(61)
words = "salt wind harbour lamp night keeper stone river boat song".split()
vectors = torch.randn(10, 5) * torch.linspace(0.3, 2.0, 10)[:, None]
kept = vectors.clone()
titles = ["salt wind song", "keeper lamp night", "stone river", "boat song harbour", "night boat"]
found = Library(words, vectors).rank("river boat night", titles)

length = kept.norm(dim=1)
short = kept / length.clamp(min=1.0)[:, None]
lookup = {word: k for k, word in enumerate(words)}
mean = {t: short[[lookup[w] for w in t.split()]].mean(dim=0) for t in titles + ["river boat night"]}
expected = torch.stack([
    torch.cosine_similarity(mean["river boat night"], mean[t], dim=0) * length[[lookup[w] for w in t.split()]].mean()
    for t in titles
])
SILENTLY_WRONG = not torch.allclose(found, expected, atol=1e-4)
