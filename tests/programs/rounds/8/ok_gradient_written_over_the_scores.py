import torch
import torch.nn as nn


class LeanCrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, scores, target):
        work = scores.data
        norm = work.logsumexp(dim=1, keepdim=True)
        loss = (norm - work.gather(1, target[:, None])).mean()
        work.sub_(norm).exp_()
        work[torch.arange(len(target)), target] -= 1.0
        work.div_(len(target))
        ctx.save_for_backward(work)
        return loss

    @staticmethod
    def backward(ctx, grad):
        work, = ctx.saved_tensors
        return work * grad, None


class Sorter(nn.Module):
    def __init__(self, inputs, kinds):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(inputs, 12), nn.Tanh())
        self.head = nn.Linear(12, kinds)

    def loss(self, x, target):
        return LeanCrossEntropy.apply(self.head(self.body(x)), target)


torch.manual_seed(859)
sorter = Sorter(7, 4)
stamps, kind = torch.randn(30, 7), torch.randint(0, 4, (30,))
loss = sorter.loss(stamps, kind)
loss.backward()

plain = nn.functional.cross_entropy(sorter.head(sorter.body(stamps)), kind)
expected = torch.autograd.grad(plain, list(sorter.parameters()))
same = all(torch.allclose(p.grad, g, atol=1e-6) for p, g in zip(sorter.parameters(), expected))
SILENTLY_WRONG = not (same and torch.allclose(loss, plain, atol=1e-6))
