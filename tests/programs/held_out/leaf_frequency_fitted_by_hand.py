import torch


class Mask:
    def __init__(self, bins):
        self.values = torch.full((bins,), 0.3, requires_grad=True)

    def apply(self, mixture):
        return mixture * torch.sigmoid(self.values)


def descend(mask, mixture, source, learning_rate, steps):
    history = []
    for _ in range(steps):
        loss = (mask.apply(mixture) - source).abs().mean()
        loss.backward()
        mask.values -= learning_rate * mask.values.grad
        mask.values.grad.zero_()
        history.append(loss.item())
    return history


torch.manual_seed(0)
mixture = torch.rand(3, 5)
mask = Mask(5)
history = descend(mask, mixture, 0.8 * mixture, 0.5, 4)
final = mask.values
