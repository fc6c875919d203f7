import torch
from torch.utils.data import DataLoader, Dataset, random_split


class Vitals(Dataset):
    def __init__(self, signs, stay):
        self.signs, self.stay = signs, stay

    def __len__(self):
        return len(self.stay)

    def __getitem__(self, i):
        return self.signs[i], self.stay[i]

    def standardise(self, mean, spread):
        self.signs.sub_(mean).div_(spread)


def prepare(patients, checked, seed=0):
    """Both parts see the standardised numbers, since they share the dataset."""
    train, check = random_split(patients, [len(patients) - checked, checked],
                                generator=torch.Generator().manual_seed(seed))
    known = train.dataset.signs[train.indices]
    train.dataset.standardise(known.mean(dim=0), known.std(dim=0))
    return train, check


def nearest(train, check, count):
    known, stay = next(iter(DataLoader(train, batch_size=len(train))))
    guesses = []
    for signs, _ in check:
        far = (known - signs).square().sum(dim=1)
        guesses.append(stay[far.argsort()[:count]].mean())
    return torch.stack(guesses)


torch.manual_seed(290)
signs = torch.randn(36, 3) * torch.tensor([15.0, 0.5, 4.0]) + torch.tensor([75.0, 37.0, 96.0])
stay = 4 + 3 * torch.rand(36)
given = signs.clone()
train, check = prepare(Vitals(signs, stay), checked=9)
guesses = nearest(train, check, count=4)

rows, held = torch.tensor(train.indices), torch.tensor(check.indices)
scaled = (given - given[rows].mean(0)) / given[rows].std(0)
order = torch.cdist(scaled[held], scaled[rows]).argsort(dim=1)[:, :4]
SILENTLY_WRONG = not torch.allclose(guesses, stay[rows][order].mean(1), atol=1e-4)
