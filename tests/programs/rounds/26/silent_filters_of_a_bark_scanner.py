import copy

import torch
import torch.nn as nn


def contact_sheet(patches, columns=4, gap=1, stretch=True):
    """Lays small grey patches side by side on one sheet, stretched to the range 0 to 1."""
    if stretch:
        low, high = float(patches.min()), float(patches.max())
        patches.sub_(low).div_(high - low + 1e-5)
    n, _, h, w = patches.shape
    rows = (n + columns - 1) // columns
    sheet = torch.ones(rows * (h + gap) - gap, columns * (w + gap) - gap)
    for k in range(n):
        y, x = k // columns * (h + gap), k % columns * (w + gap)
        sheet[y : y + h, x : x + w] = patches[k, 0]
    return sheet


def make_scanner():
    return nn.Sequential(
        nn.Conv2d(1, 8, 5, stride=2), nn.Tanh(), nn.Flatten(), nn.Linear(8 * 36, 3)
    )


def train(net, bark, species, steps, album=None):
    opt = torch.optim.SGD(net.parameters(), lr=0.05)
    for step in range(steps):
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(bark), species)
        loss.backward()
        opt.step()
        if album is not None and step % 10 == 0:
            album.append(contact_sheet(net[0].weight.data))
    return loss.item()


torch.manual_seed(15)
bark = torch.randn(30, 1, 16, 16)
species = torch.arange(30) % 3
scanner = make_scanner()
plain = copy.deepcopy(scanner)
album = []
loss = train(scanner, bark, species, 25, album)
print(len(album), "sheets of", tuple(album[0].shape), "loss", loss)

SILENTLY_WRONG = abs(loss - train(plain, bark, species, 25)) > 1e-4
