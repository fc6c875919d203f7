import copy
import torch
from torch import nn
from torch.nn import functional as F


class Server:
    def __init__(self, model, clients, classes):
        self.model = model
        self.clients = clients
        self.confusion = torch.zeros(classes, classes)
        self.log = []

    def local_update(self, x, lr=0.5):
        student = copy.deepcopy(self.model)
        with torch.no_grad():
            teacher = self.model(x).mul_(2.0).softmax(-1)
        loss = F.cross_entropy(student(x), teacher)
        loss.backward()
        torch.optim.SGD(student.parameters(), lr=lr).step()
        return student

    @torch.no_grad()
    def round(self, x, y):
        with torch.enable_grad():
            students = [self.local_update(data) for data in self.clients]
        total = copy.deepcopy(students[0])
        for p in total.parameters():
            p.zero_()
        for student in students:
            for p, q in zip(total.parameters(), student.parameters()):
                p += q / len(students)
        self.model = total
        self.confusion.zero_()
        self.confusion.index_put_((y, self.model(x).argmax(-1)), torch.ones(len(y)), accumulate=True)
        self.log.append(self.confusion.diagonal().clone())


torch.manual_seed(0)
model = nn.Linear(4, 3)
w, b = model.weight.detach().clone(), model.bias.detach().clone()
clients = [torch.randn(10, 4) + i for i in range(3)]
x, y = torch.randn(30, 4), torch.randint(0, 3, (30,))
server = Server(model, clients, classes=3)
for _ in range(4):
    server.round(x, y)

hits = []
for _ in range(4):
    residual = [((d @ w.t() + b).softmax(-1) - (2 * (d @ w.t() + b)).softmax(-1)) / 10 for d in clients]
    w = w - 0.5 * torch.stack([r.t() @ d for r, d in zip(residual, clients)]).mean(0)
    b = b - 0.5 * torch.stack([r.sum(0) for r in residual]).mean(0)
    right = (x @ w.t() + b).argmax(-1) == y
    hits.append(torch.bincount(y[right], minlength=3).float())
SILENTLY_WRONG = not (torch.allclose(server.model.weight, w, atol=1e-5) and torch.equal(torch.stack(server.log), torch.stack(hits)))
