import torch


class DiceModel:
    def __init__(self, counts, strength):
        self.data = torch.zeros(sum(counts), len(counts))
        first = 0
        for face, count in enumerate(counts):
            rows = self.data[first:first + count].data
            rows[:, face].fill_(1.0)
            first += count
        self.strength = strength

    def log_joint(self, chances):
        prior = torch.distributions.Dirichlet(torch.full((self.data.shape[1],), self.strength))
        likelihood = torch.distributions.OneHotCategorical(probs=chances)
        return prior.log_prob(chances) + likelihood.log_prob(self.data).sum()


class Guide:
    def __init__(self, faces):
        self.position = torch.zeros(faces, requires_grad=True)

    def chances(self):
        return torch.softmax(self.position, dim=0)


def most_likely(model, guide, steps, rate):
    optimizer = torch.optim.SGD([guide.position], lr=rate)
    for _ in range(steps):
        optimizer.zero_grad()
        loss = -model.log_joint(guide.chances())
        loss.backward()
        optimizer.step()
    return guide.chances().detach()


torch.manual_seed(1)
counts = [6, 2, 9, 3]
model = DiceModel(counts, strength=4.0)
found = most_likely(model, Guide(4), steps=400, rate=0.05)

total = sum(c + 4.0 - 1 for c in counts)
expected = torch.tensor([(c + 4.0 - 1) / total for c in counts])
SILENTLY_WRONG = not torch.allclose(found, expected, atol=1e-3)
