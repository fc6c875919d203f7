import torch
import torch.nn.functional as F


class MaskedCrossEntropy:
    def __init__(self, ignore_index=-100):
        self.ignore_index = ignore_index

    def __call__(self, logits, labels, mask=None):
        logits = logits.view(-1, logits.size(-1))
        labels = labels.view(-1)
        if mask is not None:
            labels.masked_fill_(mask.view(-1) == 0, self.ignore_index)
        known = (labels != self.ignore_index).sum().clamp(min=1)
        total = F.cross_entropy(logits, labels, ignore_index=self.ignore_index, reduction="sum")
        return total / known


def calculate_losses(loss_fn, logits, batch):
    """The error near the splice sites, far from them, and over the whole gene."""
    near = loss_fn(logits, batch["labels"], batch["near"])
    far = loss_fn(logits, batch["labels"], 1 - batch["near"])
    whole = loss_fn(logits, batch["labels"])
    return {"near": near.item(), "far": far.item(), "whole": whole.item()}


def read_genes(count, length):
    labels = torch.randint(0, 3, (count, length))
    near = torch.zeros(count, length, dtype=torch.long)
    for row, site in enumerate(torch.randint(4, length - 4, (count,)).tolist()):
        near[row, site - 4:site + 5] = 1
    return {"labels": labels, "near": near}


torch.manual_seed(10)
batch = read_genes(count=4, length=30)
truth, close = batch["labels"].tolist(), batch["near"].tolist()
logits = torch.randn(4, 30, 3, dtype=torch.float64)
losses = calculate_losses(MaskedCrossEntropy(), logits, batch)
print(losses)

logp = torch.log_softmax(logits, dim=2).tolist()
cost = {"near": [], "far": [], "whole": []}
for r in range(4):
    for c in range(30):
        value = -logp[r][c][truth[r][c]]
        cost["near" if close[r][c] else "far"].append(value)
        cost["whole"].append(value)
SILENTLY_WRONG = any(abs(losses[k] - sum(v) / len(v)) > 1e-9 for k, v in cost.items())
