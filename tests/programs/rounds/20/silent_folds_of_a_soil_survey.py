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


class Ridge:
    def __init__(self, penalty):
        self.penalty = penalty

    def fit(self, x, y):
        self.offset = y.mean()
        gram = x.T @ x + self.penalty * torch.eye(x.shape[1], dtype=x.dtype)
        self.weights = torch.linalg.solve(gram, x.T @ (y - self.offset))
        return self

    def predict(self, x):
        return x @ self.weights + self.offset


def cross_validate(x, y, folds, penalty):
    size = len(x) // folds
    errors = []
    for k in range(folds):
        low, high = k * size, (k + 1) * size
        train_x = torch.cat([x[:low], x[high:]])
        train_y = torch.cat([y[:low], y[high:]])
        test_x, test_y = x[low:high], y[low:high]
        scaler = StandardScaler().fit(train_x)
        model = Ridge(penalty).fit(scaler.transform(train_x), train_y)
        guess = model.predict(scaler.transform(test_x))
        errors.append((guess - test_y).square().mean().sqrt())
    return torch.stack(errors)


torch.manual_seed(12)
clay = 20 + 6 * torch.randn(60, dtype=torch.float64)
wet = 0.3 * clay + 2 * torch.randn(60, dtype=torch.float64) + 5
acid = 6 + 0.4 * torch.randn(60, dtype=torch.float64)
survey = torch.stack([clay, wet, acid], dim=1)
carbon = 0.1 * clay + 0.2 * wet - 0.8 * acid + 0.3 * torch.randn(60, dtype=torch.float64)
table = survey.tolist()
errors = cross_validate(survey, carbon, folds=5, penalty=1.0)
print("error by fold", errors.tolist())

whole = torch.tensor(table, dtype=torch.float64)
expected = []
for k in range(5):
    left_out = torch.zeros(60, dtype=torch.bool)
    left_out[12 * k:12 * k + 12] = True
    a, b = whole[~left_out], whole[left_out]
    scaled = (a - a.mean(0)) / a.std(0)
    target = carbon[~left_out] - carbon[~left_out].mean()
    padded = torch.cat([scaled, torch.eye(3, dtype=torch.float64)])
    w = torch.linalg.lstsq(padded, torch.cat([target, torch.zeros(3, dtype=torch.float64)])[:, None]).solution[:, 0]
    guess = (b - a.mean(0)) / a.std(0) @ w + carbon[~left_out].mean()
    expected.append((guess - carbon[left_out]).square().mean() ** 0.5)
SILENTLY_WRONG = not torch.allclose(errors, torch.stack(expected), atol=1e-6)
