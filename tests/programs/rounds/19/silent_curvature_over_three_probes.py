import torch
import torch.nn as nn
import torch.nn.functional as F


class CurvatureSGD(torch.optim.Optimizer):
    """Divides the gradient by an estimate of the diagonal of the Hessian."""

    def __init__(self, params, lr=0.5, eps=1e-3):
        super().__init__(params, dict(lr=lr, eps=eps))
        self.generator = torch.Generator().manual_seed(7)
        self.batches = 0

    def probe(self):
        params = [p for group in self.param_groups for p in group["params"]]
        signs = [2.0 * torch.randint(0, 2, p.shape, generator=self.generator).to(p) - 1 for p in params]
        products = torch.autograd.grad(
            [p.grad for p in params], params, grad_outputs=signs, retain_graph=True
        )
        for p, sign, product in zip(params, signs, products):
            state = self.state[p]
            state["curvature"] = state.get("curvature", 0) + (sign * product).detach()
        self.batches += 1

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                curvature = self.state[p].pop("curvature") / self.batches
                p.sub_(group["lr"] * p.grad / self.batches / (curvature.abs() + group["eps"]))
                p.grad = None
        self.batches = 0


def accumulate(net, optimizer, parts):
    for x, y in parts:
        loss = F.binary_cross_entropy_with_logits(net(x).squeeze(1), y)
        loss.backward(create_graph=True)
        optimizer.probe()
    optimizer.step()


torch.manual_seed(1902)
net = nn.Linear(3, 1, bias=False, dtype=torch.float64)
weight = net.weight.detach().clone()[0]
x = torch.randn(24, 3, dtype=torch.float64)
y = (torch.rand(24) < 0.5).double()
accumulate(net, CurvatureSGD(net.parameters()), list(zip(x.split(8), y.split(8))))

draws = torch.Generator().manual_seed(7)
slope, curvature = 0, 0
for xs, ys in zip(x.split(8), y.split(8)):
    sign = 2.0 * torch.randint(0, 2, (1, 3), generator=draws).double()[0] - 1
    chance = 1 / (1 + (-(xs @ weight)).exp())
    slope = slope + (chance - ys) @ xs / 8
    hessian = (xs.T * (chance * (1 - chance))) @ xs / 8
    curvature = curvature + sign * (hessian @ sign)
expected = weight - 0.5 * (slope / 3) / ((curvature / 3).abs() + 1e-3)
SILENTLY_WRONG = not torch.allclose(net.weight[0], expected)
