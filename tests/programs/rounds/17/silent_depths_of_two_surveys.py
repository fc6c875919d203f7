import torch


class DepthCounts:
    def __init__(self, bins, top, counts={}):
        self.bins, self.top, self.counts = bins, top, counts

    def add(self, bay, soundings):
        found = torch.histc(soundings, bins=self.bins, min=0.0, max=self.top)
        if bay not in self.counts:
            self.counts[bay] = torch.zeros(self.bins)
        self.counts[bay] += found

    def mean_depth(self, bay):
        width = self.top / self.bins
        middle = (torch.arange(self.bins) + 0.5) * width
        return (self.counts[bay] * middle).sum() / self.counts[bay].sum()


def survey(boats, bins=20, top=10.0):
    counts = DepthCounts(bins, top)
    for bay, soundings in boats:
        counts.add(bay, soundings)
    return counts


def silting(before, after, bays):
    return {bay: (before.mean_depth(bay) - after.mean_depth(bay)).item() for bay in bays}


torch.manual_seed(3)
bays = ["north", "mill", "stone"]
spring = [(bay, 3 + 5 * torch.rand(30)) for bay in bays for _ in range(4)]
autumn = [(bay, 1 + 4 * torch.rand(30)) for bay in bays for _ in range(4)]
change = silting(survey(spring), survey(autumn), bays)


def by_hand(boats, bay):
    depths = torch.cat([s for b, s in boats if b == bay])
    return (((depths / 0.5).floor() + 0.5) * 0.5).mean().item()


wanted = {bay: by_hand(spring, bay) - by_hand(autumn, bay) for bay in bays}
SILENTLY_WRONG = any(abs(change[bay] - wanted[bay]) > 1e-4 for bay in bays)
