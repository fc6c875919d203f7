import torch
from torch import nn

torch.manual_seed(0)


class StickerAttack:
    def __init__(self, classifier, size=3, lr=0.5):
        self.classifier = classifier.eval().requires_grad_(False)
        self.patch = torch.zeros(1, size, size, requires_grad=True)
        self.lr = lr

    def paste(self, images):
        size = self.patch.shape[-1]
        padded = nn.functional.pad(self.patch, (0, 8 - size, 0, 8 - size))
        mask = torch.zeros(1, 8, 8)
        mask[:, :size, :size] = 1
        return images * (1 - mask) + padded

    def step(self, images, target):
        logits = self.classifier(self.paste(images))
        loss = nn.functional.cross_entropy(logits, target)
        loss.backward()
        with torch.no_grad():
            self.patch -= self.lr * self.patch.grad
        return loss.item()

    def run(self, images, target, steps=10):
        return [self.step(images, target) for _ in range(steps)]


classifier = nn.Sequential(nn.Flatten(), nn.Linear(64, 32), nn.Tanh(), nn.Linear(32, 5))
images = torch.rand(6, 1, 8, 8)
target = torch.full((6,), 2)
attack = StickerAttack(classifier)
losses = attack.run(images, target)

other = StickerAttack(classifier)
expected = []
for _ in range(10):
    loss = nn.functional.cross_entropy(classifier(other.paste(images)), target)
    (grad,) = torch.autograd.grad(loss, other.patch)
    expected.append(loss.item())
    other.patch = (other.patch - other.lr * grad).detach().requires_grad_()
SILENTLY_WRONG = not torch.allclose(torch.tensor(losses), torch.tensor(expected), atol=1e-5)
