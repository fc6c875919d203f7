import torch
import torch.nn.functional as F


def preview(mask):
    shown = mask.data
    shown -= shown.min()
    shown /= shown.max()
    return (shown * 255).to(torch.uint8)


class OcclusionFit:
    def __init__(self, image, reference, lr):
        self.image, self.reference, self.lr = image, reference, lr
        self.logits = torch.zeros_like(image).requires_grad_()
        self.previews = []

    def step(self):
        mask = torch.sigmoid(self.logits)
        blend = mask * self.image
        loss = F.mse_loss(blend, self.reference) + 0.01 * mask.mean()
        self.previews.append(preview(mask))
        gradient, = torch.autograd.grad(loss, self.logits)
        with torch.no_grad():
            self.logits -= self.lr * gradient
        return loss.item()


torch.manual_seed(29)
image = torch.rand(6, 6) + 0.2
reference = image * (torch.rand(6, 6) > 0.5)
fit = OcclusionFit(image, reference, lr=20.0)
fit.logits.data.normal_()
values = fit.logits.detach().clone()
for _ in range(5):
    fit.step()

for _ in range(5):
    p = torch.sigmoid(values)
    slope = 2 / 36 * (p * image - reference) * image + 0.01 / 36
    values = values - 20.0 * slope * p * (1 - p)
SILENTLY_WRONG = not torch.allclose(fit.logits.detach(), values, atol=1e-4)
