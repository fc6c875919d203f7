import torch


class Trams:
    def __init__(self, lines, stops, leave):
        moves = torch.zeros(stops, stops, dtype=torch.float64)
        for line in lines:
            for first, second in zip(line[:-1], line[1:]):
                moves[first, second] += 1
                moves[second, first] += 1
        moves /= moves.sum(dim=1, keepdim=True)
        moves *= 1 - leave
        self.moves, self.leave = moves, leave

    def journeys(self, boarding, rides):
        here, there = boarding.clone(), torch.empty_like(boarding)
        ended = torch.zeros_like(boarding)
        for _ in range(rides):
            ended.add_(here, alpha=self.leave)
            torch.mm(here, self.moves, out=there)
            here, there = there, here
        return ended.add_(here)


lines = [[0, 1, 2, 3], [4, 1, 5], [3, 5, 6]]
trams = Trams(lines, stops=7, leave=0.25)
boarding = torch.tensor([[10, 0, 0, 5, 0, 0, 1], [0, 3, 0, 0, 8, 0, 0]], dtype=torch.float64)
ended = trams.journeys(boarding, rides=9)

near = {stop: [] for stop in range(7)}
for line in lines:
    for a, b in zip(line[:-1], line[1:]):
        near[a].append(b)
        near[b].append(a)
expected = []
for row in boarding.tolist():
    here, out = row, [0.0] * 7
    for _ in range(9):
        follow = [0.0] * 7
        for stop, people in enumerate(here):
            out[stop] += 0.25 * people
            for other in near[stop]:
                follow[other] += 0.75 * people / len(near[stop])
        here = follow
    expected.append([a + b for a, b in zip(out, here)])
SILENTLY_WRONG = not torch.allclose(ended, torch.tensor(expected, dtype=torch.float64))
