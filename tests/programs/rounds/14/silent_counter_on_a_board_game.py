import torch


class Board:
    def __init__(self, fields, faces, slides):
        moves = torch.zeros(fields, fields, dtype=torch.float64)
        for field in range(fields):
            for face in range(1, faces + 1):
                goal = (field + face) % fields
                moves[field, slides.get(goal, goal)] += 1 / faces
        self.moves = moves

    def visits(self, players, turns):
        chance = torch.zeros(len(players), len(self.moves), dtype=torch.float64)
        chance[range(len(players)), players] = 1
        total = torch.zeros_like(chance)
        for _ in range(turns):
            torch.mm(chance, self.moves, out=chance)
            total += chance
        return total


slides = {4: 1, 9: 13, 15: 6}
board = Board(fields=18, faces=6, slides=slides)
visits = board.visits(players=[0, 5, 11], turns=12)

expected = []
for begin in (0, 5, 11):
    chance, seen = {begin: 1.0}, [0.0] * 18
    for _ in range(12):
        follow = {}
        for field, share in chance.items():
            for face in range(1, 7):
                goal = (field + face) % 18
                goal = slides.get(goal, goal)
                follow[goal] = follow.get(goal, 0.0) + share / 6
        chance = follow
        for field, share in chance.items():
            seen[field] += share
    expected.append(seen)
SILENTLY_WRONG = not torch.allclose(visits, torch.tensor(expected, dtype=torch.float64))
