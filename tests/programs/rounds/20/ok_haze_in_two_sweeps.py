import torch


def along_rows(field):
    """Half the exchange with the neighbours to the left and to the right, open at both ends."""
    change = torch.zeros_like(field)
    flow = field.diff(dim=1)
    change[:, :-1] += flow
    change[:, 1:] -= flow
    return change


class Haze:
    def __init__(self, haze, exchange, sinking):
        self.haze = haze
        self.exchange, self.sinking = exchange, sinking

    def step(self, smoke):
        turned = self.haze.t().contiguous()
        self.haze += self.exchange * along_rows(self.haze)
        self.haze += self.exchange * along_rows(turned).t()
        self.haze *= 1 - self.sinking
        self.haze += smoke


torch.manual_seed(30)
rows, columns = 9, 14
smoke = torch.zeros(rows, columns, dtype=torch.float64)
smoke[2, 3] = 1.0
smoke[6, 10] = 0.5
first = torch.rand(rows, columns, dtype=torch.float64)
valley = Haze(first.clone(), exchange=0.2, sinking=0.03)
for _ in range(25):
    valley.step(smoke)
print("haze in all", valley.haze.sum().item())


def exchange(size):
    chain = torch.zeros(size, size, dtype=torch.float64)
    for i in range(size - 1):
        chain[i, i + 1] = chain[i + 1, i] = 1.0
    return chain - torch.diag(chain.sum(dim=1))


x = first
for _ in range(25):
    x = (x + 0.2 * (x @ exchange(columns) + exchange(rows) @ x)) * 0.97 + smoke
SILENTLY_WRONG = not torch.allclose(valley.haze, x, atol=1e-9)
