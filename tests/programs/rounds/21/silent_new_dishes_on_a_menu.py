import torch
from torch import nn


class OrderModel(nn.Module):
    """Guesses the bill from the dishes on an order."""

    def __init__(self, count, size=5):
        super().__init__()
        self.dishes = nn.Embedding(count, size)
        self.price = nn.Linear(size, 1)

    def resize(self, count):
        old = self.dishes
        grown = nn.Embedding(count, old.embedding_dim)
        grown.weight.data[:old.num_embeddings] = old.weight.data
        self.dishes = grown

    def forward(self, orders):
        return self.price(self.dishes(orders).sum(dim=1)).squeeze(1)


class Session:
    def __init__(self, model, rate=0.02):
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=rate)

    def add_dishes(self, names, menu):
        menu += [name for name in names if name not in menu]
        self.model.resize(len(menu))

    def fit(self, orders, bills, rounds):
        for _ in range(rounds):
            self.optimizer.zero_grad()
            (self.model(orders) - bills).square().mean().backward()
            self.optimizer.step()


torch.manual_seed(30)
menu = ["soup", "rice", "dal", "tea", "naan"]
prices = torch.tensor([4.0, 3.0, 5.0, 1.5, 2.0, 7.0, 6.0])
session = Session(OrderModel(len(menu)))
session.add_dishes(["curry", "lassi"], menu)
orders = torch.randint(0, len(menu), (80, 3))
bills = prices[orders].sum(dim=1)
table = session.model.dishes.weight.detach().clone()
w, b = session.model.price.weight.detach().clone(), session.model.price.bias.detach().clone()
session.fit(orders, bills, rounds=60)
print("error of a bill", (session.model(orders) - bills).abs().mean().item())

counts = torch.zeros(80, 7)
for column in orders.T:
    counts[torch.arange(80), column] += 1
for _ in range(60):
    miss = (counts @ table @ w.T + b).squeeze(1) - bills
    pull = 2 * counts.T @ miss / 80
    steps = pull[:, None] * w, (pull @ table)[None], 2 * miss.mean()
    table, w, b = table - 0.02 * steps[0], w - 0.02 * steps[1], b - 0.02 * steps[2]
SILENTLY_WRONG = not torch.allclose(session.model.dishes.weight, table, atol=1e-3)
