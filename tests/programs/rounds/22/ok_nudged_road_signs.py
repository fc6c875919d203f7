import torch
from torch import nn


class PGD:
    def __init__(self, model, eps=0.1, alpha=0.03, steps=8):
        self.model = model
        self.eps = eps
        self.alpha = alpha
        self.steps = steps

    def __call__(self, images, labels):
        images = images.clone().detach()
        adv_images = images.clone().detach()
        adv_images += torch.empty_like(adv_images).uniform_(-self.eps, self.eps)
        adv_images.clamp_(0.0, 1.0)
        for _ in range(self.steps):
            adv_images.requires_grad_(True)
            cost = nn.functional.cross_entropy(self.model(adv_images.flatten(1)), labels)
            grad = torch.autograd.grad(cost, adv_images)[0]
            adv_images = adv_images.detach() + self.alpha * grad.sign()
            delta = torch.clamp(adv_images - images, min=-self.eps, max=self.eps)
            adv_images = torch.clamp(images + delta, min=0, max=1)
        return adv_images


def accuracy(model, images, labels):
    with torch.no_grad():
        return (model(images.flatten(1)).argmax(dim=1) == labels).float().mean().item()


torch.manual_seed(33)
model = nn.Sequential(nn.Linear(3 * 5 * 5, 20), nn.ReLU(), nn.Linear(20, 4))
signs = torch.rand(10, 3, 5, 5)
labels = model(signs.flatten(1)).argmax(dim=1)
total = signs.double().sum().item()
nudged = PGD(model)(signs, labels)
clean, robust = accuracy(model, signs, labels), accuracy(model, nudged, labels)
largest = (nudged - signs).abs().max().item()
print("clean", clean, "robust", robust, "largest change", largest)

torch.manual_seed(33)
model = nn.Sequential(nn.Linear(3 * 5 * 5, 20), nn.ReLU(), nn.Linear(20, 4))
again = torch.rand(10, 3, 5, 5)
SILENTLY_WRONG = not (torch.equal(again, signs) and clean == 1.0 and 0.05 < largest <= 0.1 + 1e-6)
