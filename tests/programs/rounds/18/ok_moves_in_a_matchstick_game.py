import torch


class Matches:
    """Rows of matchsticks; who takes the last one loses. One board for the whole search."""

    def __init__(self, rows):
        self.rows = rows

    def moves(self):
        return [(row, taken) for row, count in enumerate(self.rows.tolist())
                for taken in range(1, count + 1)]

    def play(self, row, taken):
        self.rows[row] -= taken

    def undo(self, row, taken):
        self.rows[row] += taken

    def over(self):
        return not self.rows.any()


class Searcher:
    def __init__(self):
        self.known = {}

    def wins(self, board):
        """Whether the player to move can win; known positions are looked up."""
        key = tuple(board.rows.tolist())
        if key not in self.known:
            self.known[key] = board.over() or any(self.loses_after(board, m) for m in board.moves())
        return self.known[key]

    def loses_after(self, board, move):
        board.play(*move)
        try:
            return not self.wins(board)
        finally:
            board.undo(*move)

    def winning(self, board):
        return [move for move in board.moves() if self.loses_after(board, move)]


games = [torch.tensor(rows) for rows in ([1, 2, 3], [3, 4], [1, 1, 2], [2, 5, 1])]
given = [game.tolist() for game in games]
searcher = Searcher()
found = [searcher.winning(Matches(game)) for game in games]

expected = []
for rows in given:
    good = []
    for row, count in enumerate(rows):
        for taken in range(1, count + 1):
            left = rows[:row] + [count - taken] + rows[row + 1:]
            total = 0
            for other in left:
                total ^= other
            if (total == 0) if max(left) > 1 else sum(left) % 2 == 1:
                good.append((row, taken))
    expected.append(good)
SILENTLY_WRONG = found != expected
