import torch
import torch.nn as nn


class FusedCrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, scores, target):
        work = scores.data
        norm = work.logsumexp(dim=1, keepdim=True)
        picked = work.gather(1, target[:, None])
        loss = (norm - picked).mean()
        work.sub_(norm).exp_()
        work.scatter_add_(1, target[:, None], torch.full_like(picked, -1.0))
        work.div_(len(target))
        ctx.save_for_backward(work)
        return loss

    @staticmethod
    def backward(ctx, grad):
        work, = ctx.saved_tensors
        return work * grad, None


class Taster(nn.Module):
    def __init__(self, traits, grapes):
        super().__init__()
        self.head = nn.Linear(traits, grapes)

    def forward(self, x):
        return torch.tanh(self.head(x))


torch.manual_seed(809)
taster = Taster(6, 5)
wines, grape = torch.randn(24, 6), torch.randint(0, 5, (24,))
loss = FusedCrossEntropy.apply(taster(wines), grape)
loss.backward()

weight = taster.head.weight.detach().clone().requires_grad_()
scores = torch.tanh(wines @ weight.T + taster.head.bias.detach())
expected, = torch.autograd.grad(nn.functional.cross_entropy(scores, grape), weight)
SILENTLY_WRONG = not torch.allclose(taster.head.weight.grad, expected, atol=1e-5)
