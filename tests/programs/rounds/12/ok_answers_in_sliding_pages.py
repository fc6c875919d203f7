import torch
import torch.nn as nn
import torch.nn.functional as F


class Reader(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.span = nn.Linear(width, 2)

    def forward(self, page, start, end):
        first, last = self.span(page).unbind(dim=-1)
        outside = first.shape[1]
        missing = (start < 0) | (end >= outside)
        start.masked_fill_(missing, outside)
        end.masked_fill_(missing, outside)
        losses = F.cross_entropy(first, start, ignore_index=outside, reduction="none")
        return losses + F.cross_entropy(last, end, ignore_index=outside, reduction="none")


def read(reader, text, start, end, size, stride):
    total, pages = torch.zeros(len(text)), 0
    for left in range(0, text.shape[1] - size + 1, stride):
        total += reader(text[:, left:left + size], start - left, end - left)
        pages += 1
    inside = (end < size).float().mean()
    return total / pages, inside


torch.manual_seed(38)
reader, text = Reader(5), torch.randn(10, 24, 5)
start = torch.randint(0, 20, (10,))
end = start + torch.randint(0, 4, (10,))
losses, inside = read(reader, text, start, end, size=8, stride=4)

rows = []
with torch.no_grad():
    for k in range(10):
        cost, a, b = 0.0, int(start[k]), int(end[k])
        for left in (0, 4, 8, 12, 16):
            if left <= a and b < left + 8:
                chances = reader.span(text[k, left:left + 8]).log_softmax(dim=0)
                cost = cost - chances[a - left, 0] - chances[b - left, 1]
        rows.append(float(cost) / 5)
right = torch.allclose(losses.detach(), torch.tensor(rows), atol=1e-4)
SILENTLY_WRONG = not (right and abs(float(inside) - sum(int(b) < 8 for b in end) / 10) < 1e-6)
