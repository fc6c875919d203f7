import torch
import torch.nn as nn
import torch.nn.functional as F


class Maker(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 4)

    def forward(self, noise):
        return self.layer(noise).tanh()


class Judge(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 1)

    def forward(self, x):
        return self.layer(x).squeeze(1)


def verdict(judge, x, real):
    scores = judge(x)
    return F.binary_cross_entropy_with_logits(scores, torch.full_like(scores, float(real)))


def apply_gradient(module, rate):
    with torch.no_grad():
        for p in module.parameters():
            p.sub_(p.grad, alpha=rate)


def play(maker, judge, batches, rate):
    for real, noise in batches:
        judge.zero_grad(set_to_none=False)
        verdict(judge, real, True).backward()
        made = maker(noise)
        verdict(judge, made.detach(), False).backward()
        apply_gradient(judge, rate)

        maker.zero_grad(set_to_none=False)
        verdict(judge, made, True).backward()
        apply_gradient(maker, rate)


torch.manual_seed(2920)
maker, judge = Maker().double(), Judge().double()
weights = [p.detach().clone() for m in (maker, judge) for p in m.parameters()]
batches = [(torch.randn(8, 4).double(), torch.randn(8, 3).double()) for _ in range(6)]
play(maker, judge, batches, rate=0.4)

make_w, make_b, judge_w, judge_b = weights
for real, noise in batches:
    made = (noise @ make_w.T + make_b).tanh()
    off_real = ((real @ judge_w.T + judge_b).sigmoid() - 1) / 8
    off_made = (made @ judge_w.T + judge_b).sigmoid() / 8
    judge_w, judge_b = (
        judge_w - 0.4 * (off_real.T @ real + off_made.T @ made),
        judge_b - 0.4 * (off_real.sum(dim=0) + off_made.sum(dim=0)),
    )
    pull = ((made @ judge_w.T + judge_b).sigmoid() - 1) / 8
    inner = (pull @ judge_w) * (1 - made ** 2)
    make_w, make_b = make_w - 0.4 * inner.T @ noise, make_b - 0.4 * inner.sum(dim=0)
found = list(maker.parameters()) + list(judge.parameters())
SILENTLY_WRONG = not all(torch.allclose(a, b) for a, b in zip(found, (make_w, make_b, judge_w, judge_b)))
