import torch
import torch.nn as nn

torch.manual_seed(0)
levels = [torch.randn(2, 4) for _ in range(3)]
head = nn.Linear(4, 1)
with torch.no_grad():
    honest = head(levels[0].clone())
    fused = levels[0]
    for level in levels[1:]:
        fused += level
    joint = head(fused)
    lowest = head(levels[0])
SILENTLY_WRONG = not torch.allclose(lowest, honest)
