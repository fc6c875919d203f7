import torch

torch.manual_seed(0)
frames = torch.zeros(4, 2)
for t in range(6):
    for i in range(3):
        frames[i] = frames[i + 1]
    frames[3] = torch.randn(2)
mean = frames.mean(0)
