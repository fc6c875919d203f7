import torch

STD = torch.tensor([0.2, 0.4, 0.5])


def denormalise(image):
    std = STD
    std *= 255
    return image * std[:, None, None]


torch.manual_seed(0)
image = torch.randn(3, 2, 2)
first = denormalise(image)
kept = first.clone()
second = denormalise(image)
SILENTLY_WRONG = not torch.allclose(second, kept)
