import torch
import torch.nn as nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


class WordDrop(nn.Module):
    def __init__(self, keep, seed):
        super().__init__()
        self.keep, self.dice = keep, torch.Generator().manual_seed(seed)

    def forward(self, packed):
        kept = torch.rand(packed.data.shape, generator=self.dice) < self.keep
        return packed._replace(data=packed.data.mul_(kept / self.keep))


class Reader(nn.Module):
    def __init__(self, words, width, keep=0.7, seed=9):
        super().__init__()
        self.table = nn.Embedding(words, width)
        self.drop = WordDrop(keep, seed)
        self.memory = nn.GRU(width, width)

    def forward(self, words, lengths):
        packed = pack_padded_sequence(self.table(words), lengths, enforce_sorted=True)
        outputs, _ = self.memory(self.drop(packed))
        summed = outputs._replace(data=outputs.data + packed.data)
        return pad_packed_sequence(summed)[0]


torch.manual_seed(145)
reader = Reader(30, 6)
lengths = torch.tensor([9, 7, 4, 2])
words = torch.randint(0, 30, (9, 4))
reader(words, lengths).square().sum().backward()
found = reader.table.weight.grad

kept = torch.rand((int(lengths.sum()), 6), generator=torch.Generator().manual_seed(9)) < 0.7
table = reader.table.weight.detach().clone().requires_grad_()
rows, total = iter(kept / 0.7), 0.0
steps = [torch.stack([next(rows) for _ in range(int((lengths > t).sum()))]) for t in range(9)]
for k in range(4):
    raw = table[words[:lengths[k], k]]
    drop = torch.stack([steps[t][k] for t in range(int(lengths[k]))])
    total = total + (reader.memory((raw * drop)[:, None])[0][:, 0] + raw).square().sum()
expected, = torch.autograd.grad(total, table)
SILENTLY_WRONG = not torch.allclose(found, expected, atol=1e-4)
