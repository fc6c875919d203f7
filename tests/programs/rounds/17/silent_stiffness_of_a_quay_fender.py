import torch

WIDTH = 0.5


class SoftWall(torch.autograd.Function):
    @staticmethod
    def forward(ctx, gap):
        ctx.push = torch.exp(-gap / WIDTH)
        return WIDTH * ctx.push

    @staticmethod
    def backward(ctx, grad):
        return -grad * ctx.push


class Fender:
    def __init__(self, posts, strength):
        self.posts, self.strength = posts, strength

    def energy(self, hull):
        gaps = (hull - self.posts).norm(dim=1)
        return (self.strength * SoftWall.apply(gaps)).sum()

    def force(self, hull):
        hull = hull.clone().requires_grad_()
        slope, = torch.autograd.grad(self.energy(hull), hull, create_graph=True)
        return hull, -slope

    def stiffness(self, hull):
        hull, force = self.force(hull)
        rows = [torch.autograd.grad(-f, hull, retain_graph=True)[0] for f in force]
        return torch.stack(rows)


def periods(stiffness, mass):
    values = torch.linalg.eigvalsh(stiffness)
    return 6.283185307 / (values.abs() / mass).sqrt()


torch.manual_seed(70)
posts = torch.randn(5, 2, dtype=torch.float64)
strength = 1 + torch.rand(5, dtype=torch.float64)
hull = torch.tensor([0.3, -0.2], dtype=torch.float64)
fender = Fender(posts, strength)
matrix = fender.stiffness(hull)
swing = periods(matrix, mass=40.0)

wanted = torch.zeros(2, 2, dtype=torch.float64)
for post, s in zip(posts, strength):
    d = hull - post
    r = d.norm()
    outer = torch.outer(d, d) / r ** 2
    push = s * torch.exp(-r / WIDTH)
    wanted += push / WIDTH * outer - push / r * (torch.eye(2, dtype=torch.float64) - outer)
SILENTLY_WRONG = not torch.allclose(matrix, wanted)
