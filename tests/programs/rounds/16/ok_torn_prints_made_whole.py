import numpy as np
import torch
import torch.nn as nn


def tear(sheet, keep, dice):
    spots = dice.random(sheet.shape) > keep
    sheet[spots] = 0.0
    return sheet


class Prints(torch.utils.data.Dataset):
    def __init__(self, folder, keep, seed):
        self.folder, self.keep = folder, keep
        self.dice = np.random.default_rng(seed)

    def __len__(self):
        return len(self.folder)

    def __getitem__(self, i):
        whole = torch.from_numpy(self.folder[i])
        torn = tear(self.folder[i].copy(), self.keep, self.dice)
        return torch.from_numpy(torn).flatten(), whole.flatten()


def mend(net, data, epochs, rate):
    optimizer = torch.optim.SGD(net.parameters(), lr=rate)
    losses = []
    for _ in range(epochs):
        for i in range(len(data)):
            torn, whole = data[i]
            loss = nn.functional.mse_loss(net(torn), whole)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    return losses


torch.manual_seed(61)
folder = np.random.default_rng(0).random((6, 4, 4)).astype(np.float32)
given = folder.tolist()
net = nn.Linear(16, 16, bias=False)
w = net.weight.detach().double().numpy().copy()
losses = mend(net, Prints(folder, keep=0.7, seed=5), epochs=3, rate=0.5)

dice, expected = np.random.default_rng(5), []
for _ in range(3):
    for rows in given:
        whole = np.array(rows).ravel()
        torn = np.where(dice.random((4, 4)).ravel() > 0.7, 0.0, whole)
        gap = w @ torn - whole
        expected.append((gap ** 2).mean())
        w = w - 0.5 * 2 * np.outer(gap, torn) / 16
SILENTLY_WRONG = not np.allclose(losses, expected, atol=1e-4)
