import numpy as np
import torch
from torch import nn


class AttackL2:
    """Searches the smallest change of an image that moves it to a wanted class."""

    def __init__(self, max_steps=60, lr=0.05, scale_const=4.0):
        self.max_steps = max_steps
        self.lr = lr
        self.scale_const = scale_const

    def _optimize(self, optimizer, model, input_var, modifier, target):
        input_adv = torch.clamp(input_var + modifier, -1.0, 1.0)
        output = model(input_adv.flatten(1))
        dist = (input_adv - input_var).square().flatten(1).sum(dim=1)
        loss = (self.scale_const * nn.functional.cross_entropy(output, target, reduction="none") + dist).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        adv_np = input_adv.detach().permute(0, 2, 3, 1).numpy()
        return dist.detach().numpy(), output.detach().numpy(), adv_np

    def run(self, model, input, target):
        batch_size = input.size(0)
        o_best_l2 = [1e10] * batch_size
        o_best_attack = input.permute(0, 2, 3, 1).cpu().numpy()
        modifier = torch.zeros_like(input, requires_grad=True)
        input_var = input.detach().clone()
        optimizer = torch.optim.Adam([modifier], lr=self.lr)
        for step in range(self.max_steps):
            dist, output, adv_img = self._optimize(optimizer, model, input_var, modifier, target)
            for i in range(batch_size):
                if dist[i] < o_best_l2[i] and np.argmax(output[i]) == target[i]:
                    o_best_l2[i] = dist[i]
                    o_best_attack[i] = adv_img[i]
        return o_best_attack, o_best_l2


torch.manual_seed(4)
model = nn.Sequential(nn.Linear(3 * 4 * 4, 16), nn.Tanh(), nn.Linear(16, 3))
images = torch.rand(5, 3, 4, 4) * 1.6 - 0.8
target = (model(images.flatten(1)).argmax(dim=1) + 1) % 3
adversarial, best_l2 = AttackL2().run(model, images, target)
changed = torch.from_numpy(adversarial).permute(0, 3, 1, 2)
distortion = (changed - images).square().flatten(1).sum(dim=1)
print("distortion", distortion.tolist())

found = torch.tensor([float(d) if d < 1e10 else 0.0 for d in best_l2])
SILENTLY_WRONG = not torch.allclose(distortion, found, atol=1e-4)
