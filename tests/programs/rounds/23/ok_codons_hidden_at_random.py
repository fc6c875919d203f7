import torch
import torch.nn.functional as F


class MaskingCollator:
    """Hides some codons of a batch and keeps, as labels, only those that were hidden."""

    def __init__(self, mask_id, share, seed):
        self.mask_id, self.share = mask_id, share
        self.generator = torch.Generator().manual_seed(seed)

    def __call__(self, genes):
        inputs = torch.stack(genes)
        labels = inputs.clone()
        hidden = torch.rand(labels.shape, generator=self.generator) < self.share
        hidden[:, 0] = True
        labels.masked_fill_(~hidden, -100)
        inputs[hidden] = self.mask_id
        return inputs, labels


def surprise(table, inputs, labels):
    scores = table[inputs.roll(1, dims=1)]
    flat = labels.view(-1)
    total = F.cross_entropy(scores.view(-1, scores.size(-1)), flat, ignore_index=-100, reduction="sum")
    return (total / (flat != -100).sum()).item()


torch.manual_seed(48)
genes = list(torch.randint(0, 8, (12, 15)))
table = torch.randn(9, 8, dtype=torch.float64)
plain = [g.tolist() for g in genes]
collate = MaskingCollator(mask_id=8, share=0.3, seed=5)
found, batches = [], []
for epoch in range(2):
    for k in range(0, 12, 4):
        inputs, labels = collate(genes[k:k + 4])
        found.append(surprise(table, inputs, labels))
        batches.append((k, (inputs == 8).tolist()))
print("surprise by batch", found)

logp = torch.log_softmax(table, dim=1).tolist()
expected = []
for k, hidden in batches:
    costs = []
    for r in range(4):
        for c in range(15):
            if hidden[r][c]:
                before = 8 if hidden[r][c - 1] else plain[k + r][c - 1]
                costs.append(-logp[before][plain[k + r][c]])
    expected.append(sum(costs) / len(costs))
SILENTLY_WRONG = max(abs(f - e) for f, e in zip(found, expected)) > 1e-9
