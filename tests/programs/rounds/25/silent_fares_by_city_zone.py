from dataclasses import dataclass, field

import torch


@dataclass
class ZoneBook:
    """What the cabs of a city took in, zone by zone."""

    zones: int
    money: torch.Tensor = field(init=False)
    rides: torch.Tensor = field(init=False)

    def __post_init__(self):
        self.money = torch.zeros(self.zones)
        self.rides = torch.zeros(self.zones, dtype=torch.long)

    def enter(self, start, fare):
        self.money[start] += fare
        self.rides[start] += 1

    def mean_fare(self):
        return self.money / self.rides.clamp(min=1)


torch.manual_seed(14)
book = ZoneBook(zones=12)
shifts = []
for shift in range(6):
    start = torch.randint(0, 12, (40,))
    fare = 4.0 + 9.0 * torch.rand(40) + 0.5 * start
    book.enter(start, fare)
    shifts.append((start.tolist(), fare.tolist()))
richest = int(book.money.argmax())
print("rides", int(book.rides.sum()), "money", round(float(book.money.sum()), 2), "best zone", richest)

taken = [0.0] * 12
for start, fare in shifts:
    for zone, value in zip(start, fare):
        taken[zone] += value
SILENTLY_WRONG = not torch.allclose(book.money, torch.tensor(taken), rtol=1e-4)
