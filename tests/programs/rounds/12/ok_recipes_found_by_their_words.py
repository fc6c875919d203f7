import torch
import torch.nn as nn


class Kitchen:
    def __init__(self, words, vectors):
        self.places = {word: k for k, word in enumerate(words)}
        self.weights = vectors.norm(dim=1)
        self.bags = nn.EmbeddingBag.from_pretrained(vectors.clone(), mode="sum", max_norm=1.0)

    def rows(self, text):
        return torch.tensor([self.places[word] for word in text.split()])

    def embed(self, text):
        return self.bags(self.rows(text)[None])[0]

    def rank(self, query, texts):
        wanted = self.embed(query)
        found = [torch.cosine_similarity(wanted, self.embed(text), dim=0) for text in texts]
        weights = [self.weights[self.rows(text)].mean() for text in texts]
        return torch.stack(found) * torch.stack(weights)


torch.manual_seed(62)
words = "plum rice ginger leek oat salt bean mint corn lime".split()
vectors = torch.randn(10, 5) * torch.linspace(2.0, 0.3, 10)[:, None]
texts = ["plum oat", "rice ginger leek", "bean corn lime", "mint lime plum"]
found = Kitchen(words, vectors).rank("ginger lime plum", texts)

length = vectors.norm(dim=1)
short = vectors / length.clamp(min=1.0)[:, None]
rows = [[words.index(word) for word in text.split()] for text in ["ginger lime plum"] + texts]
sums = torch.stack([short[row].sum(dim=0) for row in rows])
near = torch.cosine_similarity(sums[:1], sums[1:])
expected = near * torch.stack([length[row].mean() for row in rows[1:]])
SILENTLY_WRONG = not torch.allclose(found, expected, atol=1e-4)
