import torch

torch.manual_seed(9)
truth = torch.randn(10, 2) @ torch.randn(2, 7)
known = torch.rand(10, 7) > 0.25
table = truth * known

left = (0.1 * torch.randn(10, 2)).requires_grad_()
right = (0.1 * torch.randn(2, 7)).requires_grad_()
optimizer = torch.optim.Adam([left, right], lr=0.05)
for step in range(200):
    loss = (left @ right - table)[known].pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

estimate = (left @ right).detach()
filled = table.clone()
filled.masked_scatter_(~known, estimate)
error = (filled - truth).abs().mean()

expected = (torch.where(known, truth, estimate) - truth).abs().mean()
SILENTLY_WRONG = not torch.allclose(error, expected, atol=1e-5)
