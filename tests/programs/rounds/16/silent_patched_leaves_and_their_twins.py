import torch
import torch.nn as nn


def window(height, width, share, dice):
    tall, wide = int(height * share), int(width * share)
    top = torch.randint(0, height - tall + 1, (1,), generator=dice).item()
    left = torch.randint(0, width - wide + 1, (1,), generator=dice).item()
    return slice(top, top + tall), slice(left, left + wide)


def cut_and_paste(x, y, share, dice):
    order = torch.randperm(len(x), generator=dice)
    rows, columns = window(x.shape[2], x.shape[3], share, dice)
    x[:, :, rows, columns] = x[order][:, :, rows, columns]
    kept = 1 - (rows.stop - rows.start) * (columns.stop - columns.start) / (x.shape[2] * x.shape[3])
    return x, y, y[order], kept


def step_loss(net, x, y, dice, pull):
    mixed, first, second, kept = cut_and_paste(x, y, 0.5, dice)
    scores = net(mixed)
    loss = kept * nn.functional.cross_entropy(scores, first)
    loss = loss + (1 - kept) * nn.functional.cross_entropy(scores, second)
    clean = net(x)
    return loss + pull * nn.functional.cross_entropy(clean, y), clean


torch.manual_seed(50)
net = nn.Sequential(nn.Flatten(), nn.Linear(64, 3))
x, y = torch.randn(6, 1, 8, 8), torch.randint(0, 3, (6,))
given = x.clone()
loss, clean = step_loss(net, x, y, torch.Generator().manual_seed(4), pull=0.5)

with torch.no_grad():
    dice = torch.Generator().manual_seed(4)
    order = torch.randperm(6, generator=dice)
    rows, columns = window(8, 8, 0.5, dice)
    cover = torch.zeros(8, 8)
    cover[rows, columns] = 1
    mixed = given * (1 - cover) + given[order] * cover
    log_p, log_clean = net(mixed).log_softmax(dim=1), net(given).log_softmax(dim=1)
    n = torch.arange(6)
    expected = -(0.75 * log_p[n, y] + 0.25 * log_p[n, y[order]] + 0.5 * log_clean[n, y]).mean()
SILENTLY_WRONG = not torch.allclose(loss, expected, atol=1e-5)
