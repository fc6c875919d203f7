import torch
import torch.nn as nn


def sinusoids(nb_p, dim, E):
    theta = torch.arange(nb_p).unsqueeze(1) / 10000 ** (torch.arange(dim) // 2 * 2 / dim)
    E[:, 0::2] = torch.sin(theta[:, 0::2])
    E[:, 1::2] = torch.cos(theta[:, 1::2])
    E.requires_grad = False


torch.manual_seed(0)
positions = nn.Embedding(10, 4)
sinusoids(10, 4, E=positions.weight)
