import torch


class SwapSides:
    def __init__(self, chance, seed):
        self.chance = chance
        self.dice = torch.Generator().manual_seed(seed)

    def __call__(self, clip):
        clip = clip.clone()
        if torch.rand(1, generator=self.dice).item() < self.chance:
            clip[0], clip[1] = clip[1], clip[0]
        return clip


class Street(torch.utils.data.Dataset):
    def __init__(self, clips, augment):
        self.clips, self.augment = clips, augment

    def __len__(self):
        return len(self.clips)

    def __getitem__(self, i):
        return self.augment(self.clips[i])


def side_levels(loader):
    power, count = torch.zeros(2), 0
    for batch in loader:
        power += batch.square().mean(dim=2).sum(dim=0)
        count += len(batch)
    return (power / count).sqrt()


torch.manual_seed(44)
clips = torch.randn(24, 2, 50) * torch.tensor([1.0, 0.2])[:, None]
levels = side_levels(torch.utils.data.DataLoader(Street(clips, SwapSides(0.5, seed=2)), batch_size=6))

dice = torch.Generator().manual_seed(2)
turned = [clip.flip(0) if torch.rand(1, generator=dice).item() < 0.5 else clip for clip in clips]
expected = torch.stack(turned).square().mean(dim=(0, 2)).sqrt()
SILENTLY_WRONG = not torch.allclose(levels, expected, atol=1e-5)
