import torch


def hold_back(ratings, per_reader, dice):
    """Takes some ratings of each reader out of the training part."""
    train, test = ratings, torch.zeros_like(ratings)
    for reader in range(len(ratings)):
        read = ratings[reader].nonzero().squeeze(1)
        chosen = read[torch.randperm(len(read), generator=dice)[:per_reader]]
        test[reader, chosen] = ratings[reader, chosen]
        train[reader, chosen] = 0.0
    return train, test


class Biases:
    """Mean, reader and book effects, each shrunk towards zero."""

    def __init__(self, shrink):
        self.shrink = shrink

    def fit(self, train):
        known = (train > 0).float()
        self.mean = train.sum() / known.sum()
        rest = (train - self.mean) * known
        self.book = rest.sum(dim=0) / (known.sum(dim=0) + self.shrink)
        rest = (rest - self.book) * known
        self.reader = rest.sum(dim=1) / (known.sum(dim=1) + self.shrink)
        return self

    def predict(self):
        return self.mean + self.reader[:, None] + self.book


def repeated_error(ratings, repeats, seed):
    dice = torch.Generator().manual_seed(seed)
    errors = []
    for _ in range(repeats):
        train, test = hold_back(ratings, per_reader=2, dice=dice)
        guess = Biases(shrink=3.0).fit(train).predict()
        errors.append((guess - test)[test > 0].square().mean().sqrt())
    return torch.stack(errors)


torch.manual_seed(41)
readers, books = 25, 30
liking = 3 + 0.7 * torch.randn(readers, 1) + 0.6 * torch.randn(books) + 0.5 * torch.randn(readers, books)
ratings = liking.round().clamp(1, 5) * (torch.rand(readers, books) < 0.5)
copy = ratings.tolist()
errors = repeated_error(ratings, repeats=4, seed=6)
print("errors", errors.tolist())

full = torch.tensor(copy)
dice = torch.Generator().manual_seed(6)
expected = []
for _ in range(4):
    out = torch.zeros(readers, books, dtype=torch.bool)
    for r in range(readers):
        read = full[r].nonzero().squeeze(1)
        out[r, read[torch.randperm(len(read), generator=dice)[:2]]] = True
    known = (full > 0) & ~out
    mean = full[known].mean()
    book = torch.stack([(full[known[:, b], b] - mean).sum() / (known[:, b].sum() + 3) for b in range(books)])
    reader = torch.stack([(full[r] - mean - book)[known[r]].sum() / (known[r].sum() + 3) for r in range(readers)])
    expected.append((full - mean - book - reader[:, None])[out].square().mean().sqrt())
SILENTLY_WRONG = not torch.allclose(errors, torch.stack(expected), atol=1e-4)
