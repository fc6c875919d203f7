import torch
import torch.nn as nn


class WordTable(nn.Module):
    def __init__(self, words, size, empty=0):
        super().__init__()
        self.table = nn.Embedding(words, size, padding_idx=empty)
        self.reset(size)

    def reset(self, size):
        bound = 0.5 / size
        self.table.weight.data.uniform_(-bound, bound)

    def forward(self, ids):
        return self.table(ids)


class MenuEncoder(nn.Module):
    def __init__(self, words, size):
        super().__init__()
        self.words = WordTable(words, size)

    def forward(self, ids):
        lengths = (ids != 0).sum(dim=1, keepdim=True).clamp(min=1)
        return self.words(ids).sum(dim=1) / lengths


def pad(menus):
    longest = max(len(m) for m in menus)
    ids = torch.zeros(len(menus), longest, dtype=torch.long)
    for row, menu in enumerate(menus):
        ids[row, :len(menu)] = torch.tensor(menu)
    return ids


def alike(encoder, menus):
    with torch.no_grad():
        codes = nn.functional.normalize(encoder(pad(menus)), dim=1)
    return codes @ codes.T


torch.manual_seed(17)
menus = [[3, 9, 4], [9, 3], [5, 6, 7, 8, 2, 11], [12], [4, 12, 3, 5]]
encoder = MenuEncoder(14, 8)
measured = alike(encoder, menus)

weight = encoder.words.table.weight.detach().double()
means = [sum(weight[w] for w in menu) / len(menu) for menu in menus]
units = torch.stack([m / m.norm() for m in means])
SILENTLY_WRONG = not torch.allclose(measured.double(), units @ units.T, atol=1e-5)
