import torch
from torch import nn

torch.manual_seed(0)


def load_vectors(words=40, dim=6):
    generator = torch.Generator().manual_seed(11)
    return torch.randn(words, dim, generator=generator)


class BagOfWords(nn.Module):
    def __init__(self, vectors, classes=2):
        super().__init__()
        self.embed = nn.Embedding.from_pretrained(vectors, freeze=False)
        self.out = nn.Linear(vectors.shape[1], classes)
        nn.init.zeros_(self.out.bias)
        nn.init.constant_(self.out.weight, 0.1)
        self.out.weight.data[0].neg_()

    def forward(self, ids):
        return self.out(self.embed(ids).mean(1))


def fit(model, ids, labels, epochs=15):
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    for _ in range(epochs):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(ids), labels).backward()
        optimizer.step()
    return model


def cross_validate(vectors, ids, labels, folds=3):
    losses = []
    for k in range(folds):
        held_out = torch.arange(len(ids)) % folds == k
        model = fit(BagOfWords(vectors), ids[~held_out], labels[~held_out])
        with torch.no_grad():
            losses.append(nn.functional.cross_entropy(model(ids[held_out]), labels[held_out]))
    return torch.stack(losses)


ids, labels = torch.randint(0, 40, (30, 5)), torch.randint(0, 2, (30,))
losses = cross_validate(load_vectors(), ids, labels)

expected = []
for k in range(3):
    test = torch.arange(30) % 3 == k
    model = fit(BagOfWords(load_vectors()), ids[~test], labels[~test])
    expected.append(nn.functional.cross_entropy(model(ids[test]), labels[test]).detach())
SILENTLY_WRONG = not torch.allclose(losses, torch.stack(expected), atol=1e-5)
