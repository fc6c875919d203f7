import torch


def reverse_rows(batch):
    n = len(batch)
    for i in range(n // 2):
        tmp = batch[i]
        batch[i] = batch[n - 1 - i]
        batch[n - 1 - i] = tmp
    return batch


torch.manual_seed(0)
batch = torch.randn(4, 3)
honest = batch.flip(0)
reverse_rows(batch)
SILENTLY_WRONG = not torch.equal(batch, honest)
