import torch
import torch.nn as nn


class Matcher(nn.Module):
    def __init__(self, pixels, words, width, pace):
        super().__init__()
        self.caption = nn.Linear(words, width, bias=False)
        self.image = nn.Linear(pixels, width, bias=False)
        self.head = nn.Linear(width, 1)
        self.pace = pace

    def slow_down(self, grad):
        grad.mul_(self.pace)

    def forward(self, pixels, words):
        text = self.caption(words)
        picture = self.image(pixels)
        picture.register_hook(self.slow_down)
        return self.head(text + picture)[:, 0]


torch.manual_seed(37)
matcher = Matcher(pixels=9, words=6, width=5, pace=0.1)
pixels, words, score = torch.randn(20, 9), torch.randn(20, 6), torch.randn(20)
(matcher(pixels, words) - score).pow(2).mean().backward()

residual = (words @ matcher.caption.weight.T + pixels @ matcher.image.weight.T) @ matcher.head.weight[0]
residual = (residual + matcher.head.bias - score).detach()
signal = 2 / 20 * residual[:, None] * matcher.head.weight.detach()
SILENTLY_WRONG = not (torch.allclose(matcher.caption.weight.grad, signal.T @ words, atol=1e-5)
                      and torch.allclose(matcher.image.weight.grad, 0.1 * signal.T @ pixels, atol=1e-5))
