import torch


class CompensatedSGD(torch.optim.Optimizer):
    def __init__(self, params, lr):
        super().__init__(params, dict(lr=lr))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                state = self.state[p]
                if not state:
                    state["lost"] = torch.zeros_like(p)
                    state["before"] = torch.empty_like(p)
                lost, before = state["lost"], state["before"]
                lost.add_(p.grad, alpha=-group["lr"])
                before.copy_(p)
                p.add_(lost)
                lost.add_(before.sub_(p))


torch.manual_seed(13)
slope = torch.rand(6) + 0.5
low = torch.nn.Parameter((2 * torch.randn(6)).bfloat16())
exact = low.detach().double()
optimizer = CompensatedSGD([low], lr=2e-4)
for _ in range(1500):
    loss = (low.float() * slope).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

exact = exact - 1500 * 2e-4 * slope.bfloat16().double()
SILENTLY_WRONG = not torch.allclose(low.detach().double(), exact, rtol=0.02, atol=0.02)
