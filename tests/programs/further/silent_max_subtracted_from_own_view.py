import torch

torch.manual_seed(0)
volume = torch.rand(2, 3, 4) + 1
reference = volume - volume[..., :1]

volume -= volume[..., :1]
drift = volume.mean()
SILENTLY_WRONG = not torch.allclose(volume, reference)
