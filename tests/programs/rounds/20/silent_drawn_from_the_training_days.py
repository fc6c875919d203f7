import torch
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler


class StormDays:
    def __init__(self, storm, held_out):
        self.storm, self.held_out = storm, held_out

    def balance(self):
        """The same weight in all for days with and without a storm."""
        share = torch.bincount(self.storm.long(), minlength=2).double()
        return 1.0 / share[self.storm.long()]

    def samplers(self, draws, seed):
        weights = self.balance()
        train = WeightedRandomSampler(weights, draws, generator=torch.Generator().manual_seed(seed))
        weights[self.held_out] = 0.0
        pilot = WeightedRandomSampler(weights, draws // 4, generator=torch.Generator().manual_seed(seed + 1))
        return train, pilot


def storm_share(data, sampler):
    """Mean chance of a storm among the drawn days, over one pass of a loader."""
    labels = [label for _, label in DataLoader(data, batch_size=32, sampler=sampler)]
    return torch.cat(labels).float().mean()


torch.manual_seed(13)
days = 200
storm = torch.rand(days) < 0.15
held_out = storm & (torch.rand(days) < 0.6)
pressure = 1015 - 12 * storm.float() + 4 * torch.randn(days)
data = TensorDataset(pressure, storm)
all_days, pilot = StormDays(storm, held_out).samplers(draws=400, seed=50)
share = storm_share(data, all_days)
print("storms among the drawn days", share.item(), "of them held back in the pilot", len(pilot))

stormy = int(storm.sum())
chance = torch.where(storm, 0.5 / stormy, 0.5 / (days - stormy)).double()
drawn = torch.multinomial(chance, 400, replacement=True, generator=torch.Generator().manual_seed(50))
expected = storm[drawn].float().mean()
SILENTLY_WRONG = abs(float(share - expected)) > 0.05
