import torch


class Moments(torch.optim.Optimizer):
    def __init__(self, params, lr=0.01, betas=(0.9, 0.99), eps=1e-8):
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            first, second = group["betas"]
            for p in group["params"]:
                if p.grad is None:
                    continue
                state = self.state[p]
                if not state:
                    state["step"] = 0
                    state["mean"] = torch.zeros_like(p)
                    state["square"] = torch.zeros_like(p)
                state["step"] += 1
                mean, square = state["mean"], state["square"]
                mean.mul_(first).add_(p.grad, alpha=1 - first)
                square.mul_(second).addcmul_(p.grad, p.grad, value=1 - second)
                mean.div_(1 - first ** state["step"])
                square.div_(1 - second ** state["step"])
                p.addcdiv_(mean, square.sqrt().add_(group["eps"]), value=-group["lr"])


def tremor(time, parameters):
    amplitude, rate, decay = parameters
    return amplitude * torch.sin(rate * time) * torch.exp(-decay * time)


def fitted(optimizer, parameters, time, recorded):
    for _ in range(40):
        optimizer.zero_grad()
        (tremor(time, parameters) - recorded).square().mean().backward()
        optimizer.step()
    return parameters.detach()


time = torch.linspace(0, 4, 200)
recorded = tremor(time, torch.tensor([1.4, 3.1, 0.5]))
start = torch.tensor([1.0, 2.8, 0.2])
mine = start.clone().requires_grad_()
found = fitted(Moments([mine], lr=0.02), mine, time, recorded)
reference = start.clone().requires_grad_()
adam = torch.optim.Adam([reference], lr=0.02, betas=(0.9, 0.99), eps=1e-8)
expected = fitted(adam, reference, time, recorded)
SILENTLY_WRONG = not torch.allclose(found, expected, atol=1e-4)
