import torch

INF = float("inf")


def minutes_between(stops, roads):
    """Shortest minutes between all stops, inf where no road leads."""
    minutes = torch.full((stops, stops), INF)
    for a, b, ride in roads:
        minutes[a, b] = minutes[b, a] = ride
    for k in range(stops):
        minutes = torch.minimum(minutes, minutes[:, k : k + 1] + minutes[k : k + 1])
    return minutes


def pairs_within_reach(stops, roads_by_hour):
    tables = [minutes_between(stops, roads) for roads in roads_by_hour]
    return [int(table.isfinite().sum()) for table in tables]


class RouteModel:
    """Chances of the turns that a bus takes in each hour of the night, kept as logarithms."""

    def __init__(self, stops, hours):
        self.turns = [torch.empty((stops, stops)) - INF for _ in range(hours)]

    def add_turn(self, hour, a, b, chance):
        self.turns[hour][a, b] = torch.log(torch.tensor(chance))

    def likeliest(self, start):
        score = torch.full((len(self.turns[0]),), -INF)
        score[start] = 0.0
        back = []
        for turns in self.turns:
            score, best = (score[:, None] + turns).max(dim=0)
            back.append(best)
        route = [int(score.argmax())]
        for best in reversed(back):
            route.append(int(best[route[-1]]))
        return route[::-1]


stops, hours = 40, 6
roads = [[(k, k + 1, 2.0 + k % 3) for k in range(0, 38 - 4 * h, 2)] for h in range(hours)]
print("pairs within reach", pairs_within_reach(stops, roads))

model = RouteModel(stops, hours)
for hour in range(hours):
    for k in range(stops):
        for step, chance in [(1, 0.5), (2, 0.3), (5, 0.2)]:
            model.add_turn(hour, k, (3 * k + step) % stops, chance)
route = model.likeliest(start=4)
print("route", route)

expected = [4]
for _ in range(hours):
    expected.append((3 * expected[-1] + 1) % stops)
SILENTLY_WRONG = route != expected
