import torch


class Metric:
    def __call__(self, predictions, labels):
        self.add(predictions.detach().view(-1), labels.detach().view(-1))

    def add(self, predictions, labels):
        raise NotImplementedError


class Covariance(Metric):
    def __init__(self):
        self.count, self.product = 0, 0.0
        self.means = torch.zeros(2, dtype=torch.float64)

    def add(self, predictions, labels):
        n = len(labels)
        means = torch.stack([predictions.mean(), labels.mean()])
        predictions -= means[0]
        labels -= means[1]
        between = means - self.means
        total = self.count + n
        self.product += (predictions * labels).sum() + between.prod() * self.count * n / total
        self.means = self.means + between * n / total
        self.count = total

    def get(self):
        return (self.product / (self.count - 1)).item()


class MeanAbsoluteError(Metric):
    def __init__(self):
        self.count, self.total = 0, 0.0

    def add(self, predictions, labels):
        self.total += (predictions - labels).abs().sum().item()
        self.count += len(labels)

    def get(self):
        return self.total / self.count


class Regressor(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.score = torch.nn.Linear(width, 1, dtype=torch.float64)
        self.metrics = {"covariance": Covariance(), "mae": MeanAbsoluteError()}

    def forward(self, features, labels):
        predictions = self.score(features).squeeze(-1)
        for metric in self.metrics.values():
            metric(predictions, labels)
        return predictions

    def report(self):
        return {name: metric.get() for name, metric in self.metrics.items()}


torch.manual_seed(1904)
model = Regressor(5)
events = [(torch.randn(n, 6, 5, dtype=torch.float64), 1 + torch.randn(n, 6, dtype=torch.float64)) for n in (4, 3, 5)]
given = [labels.flatten().tolist() for _, labels in events]
with torch.no_grad():
    for features, labels in events:
        model(features, labels)

with torch.no_grad():
    said = torch.cat([model.score(f).flatten() for f, _ in events])
true = torch.tensor(sum(given, []), dtype=torch.float64)
expected = torch.cov(torch.stack([said, true]))[0, 1].item(), (said - true).abs().mean().item()
report = model.report()
SILENTLY_WRONG = abs(report["covariance"] - expected[0]) > 1e-9 or abs(report["mae"] - expected[1]) > 1e-9
