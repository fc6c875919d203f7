from dataclasses import dataclass

import torch


@dataclass
class Offer:
    park: int
    start: int
    end: int
    euros: float


def price_table(weekday, parks, offers):
    """Euros per hour of each car park; an offer replaces the usual rate for some hours."""
    table = weekday.unsqueeze(0).expand(parks, -1)
    for offer in offers:
        table[offer.park, offer.start : offer.end] = offer.euros
    return table


def takings(table, parked):
    return (table * parked).sum(dim=1)


weekday = torch.full((24,), 2.0)
weekday[8:18] = 3.5
offers = [Offer(1, 20, 24, 0.5), Offer(3, 0, 6, 0.0), Offer(0, 12, 14, 1.0)]

torch.manual_seed(5)
parked = torch.randint(0, 120, (4, 24)).float()
table = price_table(weekday, 4, offers)
per_park = takings(table, parked)
print("takings", per_park.tolist())

expected = []
for park in range(4):
    total = 0.0
    for hour in range(24):
        euros = 3.5 if 8 <= hour < 18 else 2.0
        for offer in offers:
            if offer.park == park and offer.start <= hour < offer.end:
                euros = offer.euros
        total += euros * parked[park, hour].item()
    expected.append(total)
SILENTLY_WRONG = not torch.allclose(per_park, torch.tensor(expected), rtol=1e-4)
