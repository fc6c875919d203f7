import torch


class TollBook:
    """Money and cars of the gates of a bridge; the keys of the gates are handed on once a day."""

    def __init__(self, gates):
        self.money = torch.zeros(gates)
        self.cars = torch.zeros(gates, dtype=torch.long)
        self.keeper = torch.arange(gates)
        self.days_with = torch.zeros(gates, gates, dtype=torch.long)

    def hour(self, gate, toll):
        self.money.index_add_(0, gate, toll)
        self.cars += torch.bincount(gate, minlength=len(self.cars))

    def close_day(self):
        self.days_with[self.keeper, torch.arange(len(self.keeper))] += 1
        self.keeper = self.keeper.roll(1)


torch.manual_seed(15)
book = TollBook(gates=7)
hours = []
for day in range(3):
    for _ in range(4):
        gate = torch.randint(0, 7, (25,))
        toll = torch.where(torch.rand(25) < 0.3, 6.5, 2.0)
        book.hour(gate, toll)
        hours.append((gate.tolist(), toll.tolist()))
    book.close_day()
print("cars", book.cars.tolist(), "money", [round(m, 1) for m in book.money.tolist()])

money, cars = [0.0] * 7, [0] * 7
for gate, toll in hours:
    for g, t in zip(gate, toll):
        money[g] += t
        cars[g] += 1
SILENTLY_WRONG = (
    not torch.allclose(book.money, torch.tensor(money))
    or book.cars.tolist() != cars
    or int(book.days_with.sum()) != 21
)
