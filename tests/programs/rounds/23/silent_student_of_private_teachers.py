import torch
from torch import nn

bce = nn.BCEWithLogitsLoss()


class PrivateLabeller:
    """Teachers see one part of the clinic records each; the student sees their noisy votes only."""

    def __init__(self, parts, features):
        self.teachers = [nn.Linear(features, 1).double() for _ in range(parts)]
        self.student = nn.Linear(features, 1).double()
        self.optimizer_t = [torch.optim.SGD(t.parameters(), lr=0.5) for t in self.teachers]
        self.optimizer_s = torch.optim.SGD(self.student.parameters(), lr=0.2)

    def vote(self, x):
        votes = sum((teacher(x) > 0).double() for teacher in self.teachers)
        noise = 0.3 * torch.randn(votes.shape, dtype=torch.float64)
        return (votes + noise > len(self.teachers) / 2).double()

    def train(self, records, answers, public, rounds):
        asked = []
        for k in range(rounds):
            for teacher, optimizer, x, y in zip(self.teachers, self.optimizer_t, records, answers):
                optimizer.zero_grad()
                loss_t = bce(teacher(x), y)
                loss_t.backward()
                optimizer.step()
            x = public[8 * k:8 * k + 8]
            with torch.no_grad():
                votes = self.vote(x)
            loss_s = bce(self.student(x), votes)
            loss_s.backward()
            self.optimizer_s.step()
            asked.append((x, votes))
        return asked


torch.manual_seed(13)
records = torch.randn(3, 40, 4, dtype=torch.float64)
answers = (records.sum(dim=2, keepdim=True) > 0).double()
public = torch.randn(160, 4, dtype=torch.float64)
labeller = PrivateLabeller(parts=3, features=4)
w = labeller.student.weight.detach().clone()[0]
b = labeller.student.bias.detach().clone()
asked = labeller.train(records, answers, public, rounds=20)
print("weights of the student", labeller.student.weight.tolist())

for x, votes in asked:
    miss = torch.sigmoid(x @ w + b) - votes[:, 0]
    w, b = w - 0.2 * (miss[:, None] * x).mean(dim=0), b - 0.2 * miss.mean()
SILENTLY_WRONG = not torch.allclose(labeller.student.weight[0], w, atol=1e-9)
