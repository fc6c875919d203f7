import torch
import torch.nn as nn


class Reverse(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, strength):
        ctx.strength = strength
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        flipped = grad.clone()
        flipped.mul_(-ctx.strength)
        return flipped, None


torch.manual_seed(22)
encoder, grader, critic = nn.Linear(6, 4), nn.Linear(4, 3), nn.Linear(4, 1)
x = torch.randn(16, 6)
grade, clinic = torch.randint(0, 3, (16,)), torch.randint(0, 2, (16,)).float()

hidden = torch.tanh(encoder(x))
task_loss = nn.functional.cross_entropy(grader(hidden), grade)
clinic_loss = nn.functional.binary_cross_entropy_with_logits(critic(Reverse.apply(hidden, 0.3))[:, 0], clinic)
task_loss.backward(retain_graph=True)
clinic_loss.backward()

hidden = torch.tanh(encoder(x))
weights = list(encoder.parameters())
from_task = torch.autograd.grad(nn.functional.cross_entropy(grader(hidden), grade), weights, retain_graph=True)
plain = nn.functional.binary_cross_entropy_with_logits(critic(hidden)[:, 0], clinic)
from_clinic = torch.autograd.grad(plain, weights, retain_graph=True)
own, = torch.autograd.grad(plain, critic.weight)
SILENTLY_WRONG = not (torch.allclose(critic.weight.grad, own, atol=1e-6) and all(
    torch.allclose(p.grad, a - 0.3 * b, atol=1e-6) for p, a, b in zip(weights, from_task, from_clinic)))
