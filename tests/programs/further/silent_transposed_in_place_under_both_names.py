import torch

torch.manual_seed(0)
rotation, _ = torch.linalg.qr(torch.randn(3, 3))
points = torch.randn(5, 3)
inverse = rotation
inverse.t_()
there = points @ rotation
back = there @ inverse
SILENTLY_WRONG = not torch.allclose(back, points, atol=1e-5)
