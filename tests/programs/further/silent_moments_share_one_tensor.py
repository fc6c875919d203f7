import torch

torch.manual_seed(0)
w = torch.randn(3, requires_grad=True)
target = torch.tensor([1.0, -2.0, 0.5])
m = v = torch.zeros_like(w)
m_ref, v_ref, wrong = torch.zeros(3), torch.zeros(3), False
for t in range(1, 4):
    (g,) = torch.autograd.grad((w - target).pow(2).sum(), w)
    with torch.no_grad():
        m.mul_(0.9).add_(g, alpha=0.1)
        v.mul_(0.999).addcmul_(g, g, value=0.001)
        m_ref.mul_(0.9).add_(g, alpha=0.1)
        v_ref.mul_(0.999).addcmul_(g, g, value=0.001)
        w -= 0.1 * (m / (1 - 0.9**t)) / ((v / (1 - 0.999**t)).abs().sqrt() + 1e-8)
SILENTLY_WRONG = not torch.allclose(m, m_ref)
