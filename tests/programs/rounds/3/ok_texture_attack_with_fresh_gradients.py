import torch
from torch import nn

torch.manual_seed(0)


class TextureAttack:
    def __init__(self, model, shape, alpha=0.05):
        self.model = model.eval()
        for p in self.model.parameters():
            p.requires_grad_(False)
        self.texture = torch.full(shape, 0.5, requires_grad=True)
        self.alpha = alpha

    def step(self, scenes, labels):
        logits = self.model(scenes * self.texture)
        loss = nn.functional.cross_entropy(logits, labels)
        loss.backward()
        with torch.no_grad():
            self.texture.add_(self.texture.grad, alpha=self.alpha * 10).clamp_(0, 1)
        self.texture.grad.zero_()
        return loss.item()


model = nn.Sequential(nn.Flatten(), nn.Linear(16, 12), nn.Tanh(), nn.Linear(12, 3))
scenes, labels = torch.rand(8, 4, 4), torch.randint(0, 3, (8,))
attack = TextureAttack(model, (4, 4))
losses = [attack.step(scenes, labels) for _ in range(12)]

texture, expected = torch.full((4, 4), 0.5), []
for _ in range(12):
    leaf = texture.clone().requires_grad_()
    loss = nn.functional.cross_entropy(model(scenes * leaf), labels)
    (grad,) = torch.autograd.grad(loss, leaf)
    texture = (texture + 0.5 * grad).clamp(0, 1)
    expected.append(loss.item())
SILENTLY_WRONG = not torch.allclose(torch.tensor(losses), torch.tensor(expected), atol=1e-5)
