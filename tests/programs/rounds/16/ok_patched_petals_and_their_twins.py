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
    return y[order], kept


def step_loss(net, x, y, dice, pull):
    with torch.no_grad():
        clean = net(x).softmax(dim=1)
    second, kept = cut_and_paste(x, y, 0.5, dice)
    log_p = net(x).log_softmax(dim=1)
    loss = kept * nn.functional.nll_loss(log_p, y) + (1 - kept) * nn.functional.nll_loss(log_p, second)
    return loss - pull * (clean * log_p).sum(dim=1).mean()


torch.manual_seed(50)
net = nn.Sequential(nn.Flatten(), nn.Linear(64, 3))
stored = torch.randn(12, 1, 8, 8)
kinds = torch.randint(0, 3, (12,))
batch = torch.tensor([0, 3, 4, 7, 9, 11])
loss = step_loss(net, stored[batch], kinds[batch], torch.Generator().manual_seed(4), pull=0.5)

with torch.no_grad():
    dice = torch.Generator().manual_seed(4)
    order = torch.randperm(6, generator=dice)
    rows, columns = window(8, 8, 0.5, dice)
    cover = torch.zeros(8, 8)
    cover[rows, columns] = 1
    x, y, n = stored[batch], kinds[batch], torch.arange(6)
    mixed = torch.stack([a * (1 - cover) + x[k] * cover for a, k in zip(x, order.tolist())])
    log_p, share = net(mixed).log_softmax(dim=1), net(x).softmax(dim=1)
    own = 0.75 * log_p[n, y] + 0.25 * log_p[n, y[order]]
    expected = -(own + 0.5 * (share * log_p).sum(dim=1)).mean()
SILENTLY_WRONG = not torch.allclose(loss, expected, atol=1e-5)
