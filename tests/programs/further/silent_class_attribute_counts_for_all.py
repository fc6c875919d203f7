import torch


class Histogram:
    counts = torch.zeros(4)

    def add(self, labels):
        self.counts.index_add_(0, labels, torch.ones(len(labels)))


train, valid = Histogram(), Histogram()
train.add(torch.tensor([0, 1, 1]))
valid.add(torch.tensor([3]))
SILENTLY_WRONG = valid.counts.sum().item() != 1
