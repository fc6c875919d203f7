import torch
from torch import nn


class SureLoss:
    def __call__(self, logits, ranks):
        log_p = logits.log_softmax(dim=1).gather(1, ranks[:, None]).squeeze(1)
        with torch.no_grad():
            weight = log_p.exp()
            weight.clamp_(min=0.05)
        return -(weight * log_p).mean()


torch.manual_seed(33)
cheeses = torch.randn(30, 4)
ranks = (cheeses @ torch.randn(4, 3)).argmax(dim=1)
judge = nn.Linear(4, 3, bias=False)
w = judge.weight.detach().clone()
optimizer = torch.optim.SGD(judge.parameters(), lr=0.3)
for _ in range(20):
    loss = SureLoss()(judge(cheeses), ranks)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("loss", loss.item())

for _ in range(20):
    p = torch.softmax(cheeses @ w.T, dim=1)
    sure = p[torch.arange(30), ranks].clamp(min=0.05)
    w = w - 0.3 * (sure[:, None] * (p - nn.functional.one_hot(ranks, 3))).T @ cheeses / 30
SILENTLY_WRONG = not torch.allclose(judge.weight, w, atol=1e-4)
