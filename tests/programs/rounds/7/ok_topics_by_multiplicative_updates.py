import torch


class TopicFactors:
    def __init__(self, documents, vocabulary, rank, seed):
        generator = torch.Generator().manual_seed(seed)
        self.topics = torch.rand(documents, rank, generator=generator, dtype=torch.float64) + 0.1
        self.words = torch.rand(rank, vocabulary, generator=generator, dtype=torch.float64) + 0.1
        self.up_topics, self.down_topics = torch.empty_like(self.topics), torch.empty_like(self.topics)
        self.up_words, self.down_words = torch.empty_like(self.words), torch.empty_like(self.words)

    def sweep(self, counts, floor=1e-12):
        torch.matmul(counts, self.words.T, out=self.up_topics)
        torch.matmul(self.topics, self.words @ self.words.T, out=self.down_topics)
        self.topics.mul_(self.up_topics).div_(self.down_topics.add_(floor))
        torch.matmul(self.topics.T, counts, out=self.up_words)
        torch.matmul(self.topics.T @ self.topics, self.words, out=self.down_words)
        self.words.mul_(self.up_words).div_(self.down_words.add_(floor))

    def error(self, counts):
        return (counts - self.topics @ self.words).norm().item()


torch.manual_seed(90)
counts = torch.poisson(torch.rand(12, 3) @ torch.rand(3, 20) * 4).double()
factors = TopicFactors(12, 20, rank=3, seed=1)
w, h = factors.topics.clone(), factors.words.clone()
errors = []
for _ in range(30):
    factors.sweep(counts)
    errors.append(factors.error(counts))

expected = []
for _ in range(30):
    w = w * (counts @ h.T) / (w @ h @ h.T + 1e-12)
    h = h * (w.T @ counts) / (w.T @ w @ h + 1e-12)
    expected.append((counts - w @ h).norm().item())
SILENTLY_WRONG = max(abs(a - b) for a, b in zip(errors, expected)) > 1e-6 or errors[-1] > errors[0]
