import torch


class StandardScaler:
    def fit(self, x):
        self.mean = x.mean(dim=0)
        self.std = x.std(dim=0)
        return self

    def transform(self, x):
        x -= self.mean
        x /= self.std
        return x


class Nearest:
    """Mean of the nearest neighbours."""

    def __init__(self, count):
        self.count = count

    def fit(self, x, y):
        self.x, self.y = x, y
        return self

    def predict(self, x):
        near = torch.cdist(x, self.x).topk(self.count, largest=False).indices
        return self.y[near].mean(dim=1)


def folds(rows, count, dice):
    order = torch.randperm(rows, generator=dice)
    for part in order.chunk(count):
        rest = torch.ones(rows, dtype=torch.bool)
        rest[part] = False
        yield rest.nonzero().squeeze(1), part


def cross_validate(x, y, count, neighbours, dice):
    errors = []
    for train, test in folds(len(x), count, dice):
        train_x, test_x = x[train], x[test]
        scaler = StandardScaler().fit(train_x)
        model = Nearest(neighbours).fit(scaler.transform(train_x), y[train])
        guess = model.predict(scaler.transform(test_x))
        errors.append((guess - y[test]).abs().mean())
    return torch.stack(errors)


torch.manual_seed(21)
depth = 2 + 0.8 * torch.randn(60, dtype=torch.float64)
wet = 80 + 10 * torch.randn(60, dtype=torch.float64)
survey = torch.stack([depth, wet], dim=1)
carbon = 30 * depth + 0.5 * wet + torch.randn(60, dtype=torch.float64)
errors = cross_validate(survey, carbon, 5, neighbours=3, dice=torch.Generator().manual_seed(1))
print("error by fold", errors.tolist())

order = torch.randperm(60, generator=torch.Generator().manual_seed(1)).tolist()
expected = []
for k in range(5):
    out = order[12 * k:12 * k + 12]
    kept = [i for i in range(60) if i not in out]
    sizes = [torch.stack([c[i] for i in kept]).std() for c in (depth, wet)]
    off = []
    for i in out:
        far = sorted(kept, key=lambda j: float(((depth[i] - depth[j]) / sizes[0]) ** 2 + ((wet[i] - wet[j]) / sizes[1]) ** 2))
        off.append(abs(sum(carbon[j] for j in far[:3]) / 3 - carbon[i]))
    expected.append(torch.stack(off).mean())
SILENTLY_WRONG = not torch.allclose(errors, torch.stack(expected), atol=1e-8)
