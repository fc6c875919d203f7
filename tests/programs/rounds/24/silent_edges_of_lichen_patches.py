import torch
from torch import nn
import torch.nn.functional as F


class EdgeNet(nn.Module):
    """Marks pixels of a photo that belong to a patch of lichen."""

    def __init__(self):
        super().__init__()
        self.look = nn.Conv2d(3, 1, 3, padding=1)

    def forward(self, photo):
        return self.look(photo).squeeze(1)


def train_model(model, loader, epochs, learning_rate, gradient_clipping, scale):
    optimizer = torch.optim.SGD(model.parameters(), lr=learning_rate)
    grad_scaler = torch.amp.GradScaler("cpu", init_scale=scale)
    epoch_loss = 0.0
    for _ in range(epochs):
        epoch_loss = 0.0
        for photo, mask in loader:
            loss = F.binary_cross_entropy_with_logits(model(photo), mask)
            optimizer.zero_grad(set_to_none=True)
            grad_scaler.scale(loss).backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), gradient_clipping)
            grad_scaler.step(optimizer)
            grad_scaler.update()
            epoch_loss += loss.item()
    return epoch_loss / len(loader)


torch.manual_seed(23)
photo = torch.randn(16, 3, 8, 8)
mask = (photo.mean(dim=1) > 0).float()
loader = list(zip(photo.split(4), mask.split(4)))
model = EdgeNet()
w = model.look.weight.detach().clone().flatten(1)
b = model.look.bias.detach().clone()
loss = train_model(model, loader, epochs=3, learning_rate=1.0, gradient_clipping=1.0, scale=1024.0)
print("loss of the last epoch", loss)

for _ in range(3):
    total = 0.0
    for x, y in loader:
        columns = F.unfold(x, 3, padding=1)
        logits = (w @ columns).squeeze(1) + b
        total += F.binary_cross_entropy_with_logits(logits, y.flatten(1)).item() / len(loader)
        slope = (logits.sigmoid() - y.flatten(1)) / y.numel()
        gw, gb = torch.einsum("bl,bkl->k", slope, columns).unsqueeze(0), slope.sum().reshape(1)
        shrink = min(1.0, 1.0 / (gw.pow(2).sum() + gb.pow(2).sum()).sqrt().item())
        w, b = w - shrink * gw, b - shrink * gb
SILENTLY_WRONG = abs(loss - total) > 1e-3
