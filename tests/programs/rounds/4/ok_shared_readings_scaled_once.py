import torch
from torch.utils.data import DataLoader, Dataset, random_split


class SensorData(Dataset):
    def __init__(self, readings):
        self.readings = readings.clone()
        self.scaled = False

    def __len__(self):
        return len(self.readings)

    def __getitem__(self, i):
        return self.readings[i]

    def standardise(self, mean, std):
        if not self.scaled:
            self.readings.sub_(mean).div_(std)
            self.scaled = True


def make_loaders(readings):
    full = SensorData(readings)
    rng = torch.Generator().manual_seed(0)
    train, val = random_split(full, [48, 16], generator=rng)
    rows = full.readings[train.indices]
    mean, std = rows.mean(dim=0), rows.std(dim=0)
    full.standardise(mean, std)
    return DataLoader(train, batch_size=16), DataLoader(val, batch_size=16)


torch.manual_seed(26)
readings = torch.randn(64, 3) * torch.tensor([2.0, 5.0, 0.5]) + 10.0
train_loader, val_loader = make_loaders(readings)
for epoch in range(2):
    val_rows = torch.cat(list(val_loader))
    train_rows = torch.cat(list(train_loader))

base = readings[train_loader.dataset.indices]
expected_train = (base - base.mean(dim=0)) / base.std(dim=0)
expected_val = (readings[val_loader.dataset.indices] - base.mean(dim=0)) / base.std(dim=0)
SILENTLY_WRONG = not (torch.allclose(train_rows, expected_train, atol=1e-4)
                      and torch.allclose(val_rows, expected_val, atol=1e-4))
