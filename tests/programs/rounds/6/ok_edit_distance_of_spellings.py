import torch


class EditDistance:
    def __init__(self, longest):
        self.old = torch.empty(longest + 1, dtype=torch.long)
        self.row = torch.empty(longest + 1, dtype=torch.long)

    def __call__(self, a, b):
        n = len(b)
        torch.arange(n + 1, out=self.old[:n + 1])
        for i, letter in enumerate(a, start=1):
            self.row[0] = i
            for j, other in enumerate(b, start=1):
                change = self.old[j - 1] + (letter != other)
                self.row[j] = min(change, self.old[j] + 1, self.row[j - 1] + 1)
            self.old.copy_(self.row)
        return int(self.old[n])


def slow(a, b):
    if not a or not b:
        return len(a) + len(b)
    return min(slow(a[1:], b) + 1, slow(a, b[1:]) + 1, slow(a[1:], b[1:]) + (a[0] != b[0]))


measure = EditDistance(8)
pairs = [("gray", "grey"), ("color", "colour"), ("tyre", "tire"), ("sulfur", "sulph"), ("ax", "axe"), ("", "go")]
distances = torch.tensor([measure(a, b) for a, b in pairs])
SILENTLY_WRONG = not torch.equal(distances, torch.tensor([slow(a, b) for a, b in pairs]))
