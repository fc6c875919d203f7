import torch

torch.manual_seed(0)


def pair_scores(a, b):
    return torch.exp(-(a[:, None] - b[None]).abs().sum(-1))


def fill_upper(points, out, tile=4):
    n = len(points)
    for i in range(0, n, tile):
        for j in range(i, n, tile):
            out[i : i + tile, j : j + tile] = pair_scores(points[i : i + tile], points[j : j + tile])
    out.triu_()


def kernel(groups, size):
    big = torch.zeros(len(groups), size, size)
    for slot, points in zip(big, groups):
        n = len(points)
        block = slot[:n, :n]
        fill_upper(points, block)
        block += block.triu(diagonal=1).t()
        block.diagonal().add_(0.1)
    return big


groups = [torch.randn(n, 2) for n in (7, 10, 4)]
big = kernel(groups, size=12)

expected = torch.zeros(3, 12, 12)
for k, points in enumerate(groups):
    n = len(points)
    expected[k, :n, :n] = pair_scores(points, points) + 0.1 * torch.eye(n)
SILENTLY_WRONG = not torch.allclose(big, expected, atol=1e-6)
