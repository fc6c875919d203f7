import torch


class SparseSkippingAdam:
    def __init__(self, table, lr, betas=(0.9, 0.99), eps=1e-8):
        self.table, self.lr, self.betas, self.eps = table, lr, betas, eps
        self.mean = torch.zeros_like(table)
        self.square = torch.zeros_like(table)
        self.count = torch.zeros(len(table), 1)

    @torch.no_grad()
    def step(self, rows):
        first, second = self.betas
        slope = self.table.grad[rows]
        self.count[rows] += 1
        mean = self.mean[rows].lerp_(slope, 1 - first)
        square = self.square[rows].mul_(second).addcmul_(slope, slope, value=1 - second)
        self.mean[rows], self.square[rows] = mean, square
        mean_hat = mean / (1 - first ** self.count[rows])
        square_hat = square / (1 - second ** self.count[rows])
        self.table[rows] -= self.lr * mean_hat / square_hat.sqrt_().add_(self.eps)
        self.table.grad = None


torch.manual_seed(954)
start = torch.randn(6, 3)
visits = [torch.tensor(rows) for rows in ([0, 2], [2, 5], [0, 1], [2, 4], [0, 5], [2, 1])]
goal = torch.randn(6, 3)

table = start.clone().requires_grad_()
optimizer = SparseSkippingAdam(table, lr=0.05)
for rows in visits * 3:
    (table[rows] - goal[rows]).square().sum().backward()
    optimizer.step(rows)

expected = start.clone()
for row in range(6):
    leaf = start[row].clone().requires_grad_()
    adam = torch.optim.Adam([leaf], lr=0.05, betas=(0.9, 0.99), eps=1e-8)
    for rows in visits * 3:
        if row in rows.tolist():
            adam.zero_grad()
            (leaf - goal[row]).square().sum().backward()
            adam.step()
    expected[row] = leaf.detach()
SILENTLY_WRONG = not torch.allclose(table.detach(), expected, atol=1e-4)
