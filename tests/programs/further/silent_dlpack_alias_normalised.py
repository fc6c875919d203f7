import torch

torch.manual_seed(0)
x = torch.randn(6, 4)
w = torch.randn(4, 2, requires_grad=True)

reference = torch.autograd.grad((x.clone() @ w).sum(), w)[0]

out = (x @ w).sum()
shared = torch.from_dlpack(x)
shared.sub_(shared.mean()).div_(shared.std())
out.backward()
SILENTLY_WRONG = not torch.allclose(w.grad, reference)
