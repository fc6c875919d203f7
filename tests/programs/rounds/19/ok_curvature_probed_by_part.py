import torch
import torch.nn as nn
import torch.nn.functional as F


class CurvatureSGD(torch.optim.Optimizer):
    def __init__(self, params, lr=0.5, eps=1e-3):
        super().__init__(params, dict(lr=lr, eps=eps))
        self.generator = torch.Generator().manual_seed(17)
        self.parts = 0

    def backward(self, loss):
        params = [p for group in self.param_groups for p in group["params"]]
        slopes = torch.autograd.grad(loss, params, create_graph=True)
        signs = [2.0 * torch.randint(0, 2, p.shape, generator=self.generator).to(p) - 1 for p in params]
        products = torch.autograd.grad(slopes, params, grad_outputs=signs)
        for p, slope, sign, product in zip(params, slopes, signs, products):
            curvature = self.state[p].setdefault("curvature", torch.zeros_like(p))
            curvature.add_((sign * product).detach())
            if p.grad is None:
                p.grad = slope.detach()
            else:
                p.grad.add_(slope.detach())
        self.parts += 1

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                curvature = self.state[p]["curvature"]
                scale = curvature.div_(self.parts).abs_().add_(group["eps"])
                p.addcdiv_(p.grad.div_(self.parts), scale, value=-group["lr"])
                curvature.zero_()
                p.grad = None
        self.parts = 0


torch.manual_seed(2902)
net = nn.Linear(4, 1, bias=False, dtype=torch.float64)
weight = net.weight.detach().clone()[0]
x, y = torch.randn(30, 4, dtype=torch.float64), (torch.rand(30) < 0.4).double()
optimizer = CurvatureSGD(net.parameters())
for _ in range(2):
    for xs, ys in zip(x.split(10), y.split(10)):
        optimizer.backward(F.binary_cross_entropy_with_logits(net(xs).squeeze(1), ys))
    optimizer.step()

draws = torch.Generator().manual_seed(17)
for _ in range(2):
    slope, curvature = 0, 0
    for xs, ys in zip(x.split(10), y.split(10)):
        sign = 2.0 * torch.randint(0, 2, (1, 4), generator=draws).double()[0] - 1
        chance = 1 / (1 + (-(xs @ weight)).exp())
        slope = slope + (chance - ys) @ xs / 10
        curvature = curvature + sign * ((xs.T * (chance * (1 - chance))) @ xs / 10 @ sign)
    weight = weight - 0.5 * (slope / 3) / ((curvature / 3).abs() + 1e-3)
SILENTLY_WRONG = not torch.allclose(net.weight[0], weight)
