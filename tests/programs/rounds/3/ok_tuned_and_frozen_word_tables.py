import torch
from torch import nn

torch.manual_seed(0)


class TwoChannelClassifier(nn.Module):
    """One static and one fine-tuned channel of the same word vectors."""

    def __init__(self, vectors, classes=3):
        super().__init__()
        self.static = nn.Embedding.from_pretrained(vectors, freeze=True)
        self.tuned = nn.Embedding.from_pretrained(vectors.clone(), freeze=False)
        self.out = nn.Linear(2 * vectors.shape[1], classes)

    def forward(self, ids):
        both = torch.cat([self.static(ids), self.tuned(ids)], dim=-1)
        return self.out(both.mean(1))

    def drift(self):
        return (self.tuned.weight - self.static.weight).norm(dim=1)


def make_vectors():
    return torch.randn(25, 5, generator=torch.Generator().manual_seed(2))


vectors = make_vectors()
model = TwoChannelClassifier(vectors)
optimizer = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=0.5)
ids, labels = torch.randint(0, 20, (12, 4)), torch.randint(0, 3, (12,))
for _ in range(5):
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(ids), labels).backward()
    optimizer.step()

untouched = torch.equal(vectors, make_vectors())
expected = (model.tuned.weight - make_vectors()).norm(dim=1)
used = torch.zeros(25, dtype=torch.bool)
used[ids.flatten()] = True
SILENTLY_WRONG = not (
    untouched and torch.allclose(model.drift(), expected) and bool((model.drift()[~used] == 0).all())
)
