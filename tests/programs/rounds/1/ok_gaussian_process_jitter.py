import torch


class GaussianProcess:
    def __init__(self, lengthscale, noise):
        self.lengthscale = lengthscale
        self.noise = noise

    def kernel(self, a, b):
        dist = torch.cdist(a, b)
        dist.div_(self.lengthscale).square_().mul_(-0.5)
        return dist.exp_()

    def fit(self, x, y):
        self.x = x
        cov = self.kernel(x, x)
        cov.diagonal().add_(self.noise)
        self.chol = torch.linalg.cholesky(cov)
        self.alpha = torch.cholesky_solve(y.unsqueeze(-1), self.chol)
        return self

    def predict(self, x):
        cross = self.kernel(x, self.x)
        mean = (cross @ self.alpha).squeeze(-1)
        half = torch.linalg.solve_triangular(self.chol, cross.t(), upper=False)
        var = torch.ones(len(x), dtype=x.dtype)
        var -= half.square_().sum(0)
        return mean, var


torch.manual_seed(0)
x = torch.linspace(0, 4, 12, dtype=torch.float64).unsqueeze(-1)
y = torch.sin(2 * x).squeeze(-1)
query = torch.tensor([[0.3], [1.7], [5.0]], dtype=torch.float64)
mean, var = GaussianProcess(0.7, 0.05).fit(x, y).predict(query)

k = torch.exp(-((x - x.t()) ** 2) / (2 * 0.7 ** 2)) + 0.05 * torch.eye(12, dtype=torch.float64)
ks = torch.exp(-((query - x.t()) ** 2) / (2 * 0.7 ** 2))
inv = torch.linalg.inv(k)
SILENTLY_WRONG = not (
    torch.allclose(mean, ks @ inv @ y, atol=1e-6)
    and torch.allclose(var, 1 - torch.einsum("ij,jk,ik->i", ks, inv, ks), atol=1e-6)
)
