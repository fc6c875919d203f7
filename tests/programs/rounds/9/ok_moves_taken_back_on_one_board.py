import torch


class Domineering:
    def __init__(self, rows, columns):
        self.board = torch.zeros(rows, columns, dtype=torch.int8)

    def moves(self, player):
        height, width = (2, 1) if player == 0 else (1, 2)
        taken = self.board.unfold(0, height, 1).unfold(1, width, 1).sum(dim=(2, 3))
        return [(r, c, height, width) for r, c in (taken == 0).nonzero().tolist()]

    def cells(self, move):
        row, column, height, width = move
        return self.board[row:row + height, column:column + width]

    def search(self, player):
        best, nodes = False, 1
        for move in self.moves(player):
            cells = self.cells(move)
            cells.fill_(1)
            won, below = self.search(1 - player)
            cells.zero_()
            nodes += below
            if not won:
                best = True
                break
        return best, nodes


def search_on_sets(taken, rows, columns, player):
    down, right = (1, 0) if player == 0 else (0, 1)
    nodes = 1
    for r in range(rows - down):
        for c in range(columns - right):
            stone = {(r, c), (r + down, c + right)}
            if not stone & taken:
                won, below = search_on_sets(taken | stone, rows, columns, 1 - player)
                nodes += below
                if not won:
                    return True, nodes
    return False, nodes


game = Domineering(3, 4)
game.board[0, 3] = 1
results = [game.search(player) for player in (0, 1)]
expected = [search_on_sets({(0, 3)}, 3, 4, player) for player in (0, 1)]
untouched = game.board.sum().item() == 1
SILENTLY_WRONG = results != expected or not untouched
