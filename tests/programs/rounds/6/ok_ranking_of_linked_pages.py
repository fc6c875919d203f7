import torch


class PageRank:
    def __init__(self, links, damping=0.85):
        pages = links.shape[0]
        self.move = (links / links.sum(dim=0, keepdim=True).clamp(min=1))
        self.move[:, links.sum(dim=0) == 0] = 1 / pages
        self.damping = damping
        self.rank = torch.full((pages,), 1 / pages, dtype=links.dtype)
        self.spare = torch.empty_like(self.rank)

    def iterate(self):
        torch.mv(self.move, self.rank, out=self.spare)
        self.spare.mul_(self.damping).add_((1 - self.damping) / len(self.spare))
        change = (self.spare - self.rank).abs().sum()
        self.rank, self.spare = self.spare, self.rank
        return change.item()

    def solve(self, tolerance):
        steps = 1
        while self.iterate() > tolerance:
            steps += 1
        return self.rank, steps


torch.manual_seed(641)
links = (torch.rand(15, 15) < 0.2).double()
links.fill_diagonal_(0)
links[:, 3] = 0
rank, steps = PageRank(links).solve(1e-12)

out = links.sum(dim=0)
stochastic = torch.where(out > 0, links / out.clamp(min=1), torch.full_like(links, 1 / 15))
expected = torch.linalg.solve(torch.eye(15).double() - 0.85 * stochastic, torch.full((15,), 0.15 / 15).double())
SILENTLY_WRONG = not (steps > 5 and torch.allclose(rank, expected, atol=1e-9))
