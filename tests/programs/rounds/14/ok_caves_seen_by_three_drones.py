import torch


class Drone:
    def __init__(self, cave, seen, place):
        self.cave, self.seen, self.place = cave, seen, list(place)

    def look(self, reach=1):
        top, left = max(self.place[0] - reach, 0), max(self.place[1] - reach, 0)
        window = slice(top, self.place[0] + reach + 1), slice(left, self.place[1] + reach + 1)
        self.seen[window] = self.cave[window]

    def move(self, down, right):
        self.place[0] = min(max(self.place[0] + down, 0), self.cave.shape[0] - 1)
        self.place[1] = min(max(self.place[1] + right, 0), self.cave.shape[1] - 1)
        self.look()


def explore(cave, starts, routes):
    maps = torch.full_like(cave, -1).expand(len(starts), -1, -1).contiguous()
    drones = [Drone(cave, seen, start) for seen, start in zip(maps, starts)]
    for route, drone in zip(routes, drones):
        drone.look()
        for way in route:
            drone.move(*way)
    merged = maps[0].clone()
    for seen in maps[1:]:
        torch.maximum(merged, seen, out=merged)
    return maps, merged


torch.manual_seed(352)
cave = torch.randint(0, 4, (8, 10)).float()
starts = [(0, 0), (4, 5), (7, 9)]
ways = [(0, 1), (1, 0), (0, -1), (-1, 0)]
routes = [[ways[k] for k in torch.randint(0, 4, (6,)).tolist()] for _ in starts]
maps, merged = explore(cave, starts, routes)

table, right = cave.tolist(), True
union = [[-1.0] * 10 for _ in range(8)]
for seen, (row, column), route in zip(maps, starts, routes):
    own = [[-1.0] * 10 for _ in range(8)]
    for down, along in [(0, 0)] + route:
        row, column = min(max(row + down, 0), 7), min(max(column + along, 0), 9)
        for i in range(max(row - 1, 0), min(row + 2, 8)):
            for j in range(max(column - 1, 0), min(column + 2, 10)):
                own[i][j] = union[i][j] = table[i][j]
    right = right and seen.tolist() == own
SILENTLY_WRONG = not (right and torch.allclose(merged, torch.tensor(union)))
