import torch
import torch.nn as nn


class SparseMoE(nn.Module):
    def __init__(self, width, experts, top_k):
        super().__init__()
        self.gate = nn.Linear(width, experts, bias=False)
        self.experts = nn.ModuleList(
            nn.Sequential(nn.Linear(width, 8), nn.SiLU(inplace=True), nn.Linear(8, width)) for _ in range(experts)
        )
        self.top_k = top_k

    def forward(self, tokens):
        weights, chosen = torch.topk(self.gate(tokens).softmax(-1), self.top_k, dim=-1)
        weights /= weights.sum(-1, keepdim=True)
        combined = torch.zeros_like(tokens)
        for number, expert in enumerate(self.experts):
            row, slot = torch.where(chosen == number)
            combined.index_add_(0, row, expert(tokens[row]) * weights[row, slot, None])
        return combined


torch.manual_seed(0)
moe = SparseMoE(4, 3, 2)
loss = moe(torch.randn(6, 4)).pow(2).mean()
loss.backward()
