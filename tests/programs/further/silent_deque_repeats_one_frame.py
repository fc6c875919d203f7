from collections import deque

import torch

frames = deque([torch.zeros(2, 2)] * 3, maxlen=3)
frames[-1].add_(1.0)
stacked = torch.stack(list(frames))
SILENTLY_WRONG = stacked.sum().item() != 4.0
