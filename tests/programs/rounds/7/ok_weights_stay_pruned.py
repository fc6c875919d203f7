import torch
import torch.nn as nn


class SparseTrainer:
    def __init__(self, net, share, lr):
        self.net = net
        self.optimizer = torch.optim.SGD(net.parameters(), lr=lr, momentum=0.9)
        self.masks = {}
        for name, p in net.named_parameters():
            if p.dim() == 2:
                order = p.detach().abs().flatten().argsort()
                mask = torch.ones(p.numel())
                mask[order[:int(share * p.numel())]] = 0.0
                self.masks[name] = mask.view_as(p)
        self.apply_masks()

    @torch.no_grad()
    def apply_masks(self):
        for name, p in self.net.named_parameters():
            if name in self.masks:
                p.mul_(self.masks[name])

    def step(self, x, y):
        self.optimizer.zero_grad()
        loss = nn.functional.mse_loss(self.net(x), y)
        loss.backward()
        self.optimizer.step()
        self.apply_masks()
        return loss.item()


torch.manual_seed(15)
net = nn.Sequential(nn.Linear(5, 8), nn.Tanh(), nn.Linear(8, 2))
x, y = torch.randn(30, 5), torch.randn(30, 2)
start = [p.detach().clone() for p in net.parameters()]
trainer = SparseTrainer(net, share=0.5, lr=0.05)
for _ in range(10):
    trainer.step(x, y)

masks = [trainer.masks.get(n, torch.ones(())) for n, _ in net.named_parameters()]
values = [v * m for v, m in zip(start, masks)]
speed = [torch.zeros_like(v) for v in values]
for _ in range(10):
    values = [v.detach().requires_grad_() for v in values]
    output = torch.tanh(x @ values[0].T + values[1]) @ values[2].T + values[3]
    grads = torch.autograd.grad((output - y).pow(2).mean(), values)
    speed = [0.9 * s + g for s, g in zip(speed, grads)]
    values = [(v - 0.05 * s) * m for v, s, m in zip(values, speed, masks)]
SILENTLY_WRONG = not all(torch.allclose(a, b, atol=1e-5) for a, b in zip(net.parameters(), values))
