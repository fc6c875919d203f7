import copy
import torch


class Pebbles:
    """Heaps of pebbles; who takes the last one wins."""

    def __init__(self, heaps):
        self.heaps = heaps
        self.turn = 0

    def moves(self):
        for heap, count in enumerate(self.heaps.tolist()):
            for taken in range(1, count + 1):
                yield heap, taken

    def after(self, heap, taken):
        child = copy.copy(self)
        child.heaps[heap] -= taken
        child.turn = 1 - self.turn
        return child

    def over(self):
        return not (self.heaps > 0).any()


class Searcher:
    def __init__(self, depth):
        self.depth = depth

    def worth(self, state, depth):
        """1 if the player to move can win, -1 if not, 0 if it is too far off."""
        if state.over():
            return -1
        if depth == 0:
            return 0
        return max(-self.worth(state.after(*move), depth - 1) for move in list(state.moves()))

    def winning(self, state):
        return [move for move in list(state.moves()) if self.worth(state.after(*move), self.depth) < 0]


searcher = Searcher(depth=9)
games = [torch.tensor(heaps) for heaps in ([1, 2, 2], [3, 1], [1, 2, 3], [2, 2, 1, 1])]
given = [game.tolist() for game in games]
found = [searcher.winning(Pebbles(game)) for game in games]

expected = []
for heaps in given:
    total = 0
    for count in heaps:
        total ^= count
    good = [(h, c - (c ^ total)) for h, c in enumerate(heaps) if total and c ^ total < c]
    expected.append(good)
SILENTLY_WRONG = found != expected
