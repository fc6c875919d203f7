import torch
import torch.nn as nn


def remember(bank, label, feature):
    bank[label] = 0.9 * bank[label] + 0.1 * feature.detach().mean(0)


torch.manual_seed(0)
encoder = nn.Linear(4, 3)
centres = torch.zeros(2, 3)
a, b = encoder(torch.randn(5, 4)), encoder(torch.randn(5, 4))

remember(centres, 0, a)
pull = (a * centres[0]).sum(1).mean()
remember(centres, 1, b)
push = b.pow(2).mean()
(push - pull).backward()
