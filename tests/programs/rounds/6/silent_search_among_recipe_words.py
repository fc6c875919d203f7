import torch
import torch.nn.functional as F


class RecipeIndex:
    def __init__(self, table):
        self.table = table

    def query_vector(self, words):
        return F.embedding(words, self.table, max_norm=1.0).mean(dim=0)

    def rank(self, words, count):
        scores = self.table @ self.query_vector(words)
        return scores.topk(count)


torch.manual_seed(618)
table = 2.5 * torch.randn(40, 6)
pretrained = table.clone()
index = RecipeIndex(table)
queries = [torch.tensor(q) for q in ([3, 8, 21], [8, 14], [3, 14, 30, 31], [21, 8])]
found = [index.rank(q, 5) for q in queries]

expected = []
for q in queries:
    rows = pretrained[q]
    rows = rows / rows.norm(dim=1, keepdim=True).clamp(min=1.0)
    expected.append((pretrained @ rows.mean(dim=0)).topk(5))
same = [torch.allclose(f.values, e.values, atol=1e-3) for f, e in zip(found, expected)]
SILENTLY_WRONG = not all(same)
