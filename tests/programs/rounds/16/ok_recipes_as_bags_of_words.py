import torch
import torch.nn as nn


class WordTable(nn.Module):
    def __init__(self, words, size, empty=0):
        super().__init__()
        self.table = nn.Embedding(words, size, padding_idx=empty)
        self.reset(size)

    def reset(self, size):
        bound = 0.5 / size
        weight = self.table.weight.data
        weight.uniform_(-bound, bound)
        weight[self.table.padding_idx].zero_()

    def forward(self, ids):
        return self.table(ids)


class RecipeEncoder(nn.Module):
    def __init__(self, words, size):
        super().__init__()
        self.words = WordTable(words, size)

    def forward(self, ids):
        total = self.words(ids).sum(dim=1)
        return total.div_((ids != 0).sum(dim=1, keepdim=True))


def pad(recipes):
    ids = torch.zeros(len(recipes), max(map(len, recipes)), dtype=torch.long)
    for row, recipe in zip(ids, recipes):
        row[:len(recipe)] = torch.tensor(recipe)
    return ids


def encode(encoder, recipes):
    with torch.no_grad():
        return encoder(pad(recipes))


torch.manual_seed(17)
recipes = [[3, 9, 4], [9, 3], [5, 6, 7, 8, 2, 11], [12], [4, 12, 3, 5]]
encoder = RecipeEncoder(14, 8)
measured = encode(encoder, recipes)

weight = encoder.words.table.weight.detach().tolist()
expected = [[sum(weight[w][k] for w in r) / len(r) for k in range(8)] for r in recipes]
SILENTLY_WRONG = not torch.allclose(measured, torch.tensor(expected), atol=1e-6)
