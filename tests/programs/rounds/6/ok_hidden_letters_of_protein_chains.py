import torch
from torch.nn.utils.rnn import pad_sequence

PAD, MASK, FIRST = 0, 1, 2


class HideLetters:
    def __init__(self, share, letters):
        self.share, self.letters = share, letters

    def __call__(self, examples):
        chains = pad_sequence(examples, batch_first=True, padding_value=PAD)
        labels = chains.clone()
        draw = torch.rand(chains.shape)
        chosen = (draw < self.share) & (chains != PAD)
        labels[~chosen] = -100
        chains[chosen & (draw < 0.8 * self.share)] = MASK
        noise = chosen & (draw >= 0.8 * self.share) & (draw < 0.9 * self.share)
        chains[noise] = torch.randint(FIRST, FIRST + self.letters, (int(noise.sum()),))
        return chains, labels, draw


torch.manual_seed(639)
store = [torch.randint(FIRST, FIRST + 20, (n,)) for n in (9, 14, 6, 12, 14)]
originals = [c.clone() for c in store]
collate = HideLetters(0.4, 20)
fine = []
for _ in range(4):
    chains, labels, draw = collate(store)
    for row, chain in enumerate(originals):
        n = len(chain)
        chosen = draw[row, :n] < 0.4
        fine.append(torch.equal(labels[row, :n], torch.where(chosen, chain, -100)))
        fine.append(bool((labels[row, n:] == -100).all()) and bool((chains[row, n:] == PAD).all()))
        kept = ~chosen | (draw[row, :n] >= 0.36)
        fine.append(torch.equal(chains[row, :n][kept], chain[kept]))
        fine.append(bool((chains[row, :n][draw[row, :n] < 0.32] == MASK).all()))
SILENTLY_WRONG = not all(fine)
