import torch


class Factors:
    def __init__(self, users, films, rank, ridge):
        self.users, self.films = torch.randn(users, rank), torch.randn(films, rank)
        self.ridge = ridge * torch.eye(rank)

    def solve_rows(self, mine, other, ratings, known):
        for row in range(mine.shape[0]):
            seen = other[known[row]]
            mine[row] = torch.linalg.solve(seen.t() @ seen + self.ridge, seen.t() @ ratings[row, known[row]])

    def sweep(self, ratings, known):
        self.solve_rows(self.users, self.films, ratings, known)
        self.solve_rows(self.films, self.users, ratings.t(), known.t())


torch.manual_seed(631)
ratings = torch.randn(12, 2) @ torch.randn(2, 9)
known = torch.rand(12, 9) < 0.8
model = Factors(12, 9, 2, 0.1)
u, f = model.users.clone(), model.films.clone()
for _ in range(6):
    model.sweep(ratings, known)

eye = 0.1 * torch.eye(2)
for _ in range(6):
    m = known.float()
    left = torch.einsum("uf,fi,fj->uij", m, f, f) + eye
    u = torch.linalg.solve(left, torch.einsum("uf,fi->ui", m * ratings, f))
    left = torch.einsum("uf,ui,uj->fij", m, u, u) + eye
    f = torch.linalg.solve(left, torch.einsum("uf,ui->fi", m * ratings, u))
SILENTLY_WRONG = not torch.allclose(model.users @ model.films.t(), u @ f.t(), atol=1e-3)
