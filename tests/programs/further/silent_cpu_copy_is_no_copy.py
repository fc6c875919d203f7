import torch
import torch.nn.functional as F

torch.manual_seed(0)
target = (torch.rand(8) > 0.5).float()
with torch.no_grad():
    pred = torch.sigmoid(torch.randn(8))
    honest = F.binary_cross_entropy(pred, target).item()
    mask = pred.cpu()
    mask[mask > 0.5] = 1.0
    mask[mask <= 0.5] = 0.0
    bce = F.binary_cross_entropy(pred, target).item()
SILENTLY_WRONG = abs(bce - honest) > 1e-3
