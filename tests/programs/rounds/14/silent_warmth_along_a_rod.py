import torch


def spread(value, cells):
    return torch.as_tensor(value, dtype=torch.float64).expand(cells, -1)


class Rod:
    def __init__(self, cells, carries=(0.2, 0.2), losses=(0.01, 0.01)):
        self.cells = cells
        self.carries = spread(carries, cells)
        self.losses = spread(losses, cells)

    def splice(self, cell, carries, losses):
        self.carries[cell] = torch.tensor(carries, dtype=torch.float64)
        self.losses[cell] = torch.tensor(losses, dtype=torch.float64)

    def run(self, warmth, steps):
        for _ in range(steps):
            left = torch.cat([warmth[:1], warmth[:-1]]) - warmth
            right = torch.cat([warmth[1:], warmth[-1:]]) - warmth
            flow = self.carries[:, 0] * left + self.carries[:, 1] * right
            warmth = warmth + flow - self.losses.sum(dim=1) * warmth
        return warmth


rod = Rod(cells=12)
rod.splice(6, carries=[0.05, 0.02], losses=[0.0, 0.03])
start = torch.zeros(12, dtype=torch.float64)
start[0] = 100
warmth = rod.run(start, steps=80)

carries, losses = [[0.2, 0.2] for _ in range(12)], [0.02] * 12
carries[6], losses[6] = [0.05, 0.02], 0.03
row = start.tolist()
for _ in range(80):
    row = [
        row[i] + carries[i][0] * (row[max(i - 1, 0)] - row[i]) + carries[i][1] * (row[min(i + 1, 11)] - row[i]) - losses[i] * row[i]
        for i in range(12)
    ]
SILENTLY_WRONG = not torch.allclose(warmth, torch.tensor(row, dtype=torch.float64))
