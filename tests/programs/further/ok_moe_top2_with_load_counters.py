import torch
import torch.nn as nn


class MoE(nn.Module):
    def __init__(self, d=4, n=4, k=2):
        super().__init__()
        self.gate, self.k = nn.Linear(d, n, bias=False), k
        self.experts = nn.ModuleList(
            nn.Sequential(nn.Linear(d, 8), nn.SiLU(inplace=True), nn.Linear(8, d)) for _ in range(n)
        )
        self.register_buffer("load", torch.zeros(n))
        self.register_buffer("bias", torch.zeros(n))

    def forward(self, x):
        scores = torch.sigmoid(self.gate(x))
        chosen = (scores.detach() + self.bias).topk(self.k, -1).indices
        weights = scores.gather(-1, chosen)
        weights = weights / weights.sum(-1, keepdim=True)
        out = torch.zeros_like(x)
        for e, expert in enumerate(self.experts):
            row, slot = torch.where(chosen == e)
            out[row] += weights[row, slot, None] * expert(x[row])
            self.load[e] += len(row)
        if self.training:
            self.bias += 0.01 * torch.sign(self.load.mean() - self.load)
        return out


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 4), MoE(), nn.Linear(4, 1))
opt = torch.optim.AdamW(net.parameters(), 1e-2)
for _ in range(3):
    loss = net(torch.randn(6, 3)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    net[1].load.zero_()
