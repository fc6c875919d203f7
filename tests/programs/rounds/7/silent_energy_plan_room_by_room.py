import torch


class EnergyPlan:
    def __init__(self, rooms, standby):
        self.plan = standby.expand(rooms, -1)

    def heat(self, room, start, stop, power):
        self.plan[room, start:stop] += power

    def switch_off(self, room, hour):
        self.plan[room, hour] = 0.0

    def cost(self, tariff):
        return self.plan @ tariff


hours = torch.arange(24)
tariff = torch.where((hours >= 7) & (hours < 21), 0.32, 0.18)
standby = torch.full((1, 24), 0.05)

plan = EnergyPlan(rooms=4, standby=standby)
bookings = [(0, 8, 12, 1.5), (1, 13, 17, 2.0), (3, 18, 22, 0.8), (0, 14, 15, 1.5)]
for room, start, stop, power in bookings:
    plan.heat(room, start, stop, power)
plan.switch_off(2, 3)
costs = plan.cost(tariff)

expected = [0.05 * tariff.sum().item()] * 4
for room, start, stop, power in bookings:
    expected[room] += power * tariff[start:stop].sum().item()
expected[2] -= 0.05 * tariff[3].item()
SILENTLY_WRONG = not torch.allclose(costs, torch.tensor(expected), atol=1e-4)
