import torch


class Letters:
    def __init__(self, lines):
        self.letters = sorted(set("".join(lines)))
        self.codes = {letter: code for code, letter in enumerate(self.letters)}

    def encode(self, lines):
        rows = [[self.codes[letter] for letter in line] for line in lines]
        return torch.tensor(rows).T.contiguous()

    def decode(self, batch):
        batch.t_()
        return ["".join(self.letters[code] for code in row) for row in batch.tolist()]


class FollowerCounts:
    def __init__(self, letters):
        self.table = torch.zeros(len(letters.letters), len(letters.letters))

    def update(self, batch):
        before, after = batch[:-1].reshape(-1), batch[1:].reshape(-1)
        self.table.index_put_((before, after), torch.ones(before.numel()), accumulate=True)


def read(lines, letters, size, shown):
    counts = FollowerCounts(letters)
    for i in range(0, len(lines), size):
        batch = letters.encode(lines[i:i + size])
        if (i // size) % 2 == 0:
            shown.extend(letters.decode(batch))
        counts.update(batch)
    return counts.table


lines = ["wind north", "fog at sea", "calm night", "sail is up", "no land in", "storm came", "east again", "ship holds"]
letters, shown = Letters(lines), []
table = read(lines, letters, 2, shown)

expected = torch.zeros_like(table)
for line in lines:
    for before, after in zip(line, line[1:]):
        expected[letters.codes[before], letters.codes[after]] += 1
SILENTLY_WRONG = not torch.equal(table, expected)
