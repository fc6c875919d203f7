import torch
from torch.utils.data import Dataset, random_split


class SensorData(Dataset):
    def __init__(self, readings, labels):
        self.readings, self.labels = readings, labels

    def __len__(self):
        return len(self.readings)

    def __getitem__(self, i):
        return self.readings[i], self.labels[i]


class SensorModule:
    def __init__(self, readings, labels, seed=0):
        full = SensorData(readings, labels)
        rng = torch.Generator().manual_seed(seed)
        self.train, self.val = random_split(full, [48, 16], generator=rng)
        rows = full.readings[self.train.indices]
        self.mean, self.std = rows.mean(0), rows.std(0)

    def prepare(self):
        for part in (self.train, self.val):
            part.dataset.readings.sub_(self.mean).div_(self.std)


torch.manual_seed(6)
readings = torch.randn(64, 3) * torch.tensor([2.0, 5.0, 0.5]) + 10.0
labels = torch.randint(0, 2, (64,))
raw = readings.clone()

data = SensorModule(readings, labels)
data.prepare()
train_rows = torch.stack([x for x, _ in data.train])

rows = raw[data.train.indices]
expected = (rows - rows.mean(0)) / rows.std(0)
SILENTLY_WRONG = not torch.allclose(train_rows, expected, atol=1e-4)
