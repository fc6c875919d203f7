import torch

stations = ["harbour", "ridge", "valley", "airport"]


def monthly_rain(readings):
    totals = dict.fromkeys(stations, torch.zeros(12))
    wet_days = dict.fromkeys(stations, 0)
    for station, month, amount in readings:
        totals[station][month] += amount
        if amount > 1.0:
            wet_days[station] += 1
    return totals, wet_days


def seasonality(total):
    share = total / total.sum()
    return (share - 1 / 12).abs().sum().item()


torch.manual_seed(51)
readings = []
for i, station in enumerate(stations):
    for month in range(12):
        wetness = 1.5 + torch.cos(torch.tensor(0.5 * month + 1.3 * i)).item()
        for amount in torch.rand(8).tolist():
            readings.append((station, month, wetness * amount))

totals, wet_days = monthly_rain(readings)
result = [seasonality(totals[name]) for name in stations]

expected = []
for name in stations:
    sums = [sum(a for s, m, a in readings if s == name and m == month) for month in range(12)]
    expected.append(sum(abs(v / sum(sums) - 1 / 12) for v in sums))
SILENTLY_WRONG = max(abs(a - b) for a, b in zip(result, expected)) > 1e-4
