import random

import torch

LINES = torch.tensor([[0, 1, 2], [3, 4, 5], [6, 7, 8], [0, 3, 6],
                      [1, 4, 7], [2, 5, 8], [0, 4, 8], [2, 4, 6]])


def winner(cells):
    sums = cells[LINES].sum(dim=1)
    return 1 if (sums == 3).any() else -1 if (sums == -3).any() else 0


def playout(board, move, player, chance):
    cells = board.flatten()
    cells[move] = player
    while winner(cells) == 0 and (cells == 0).any():
        player = -player
        free = (cells == 0).nonzero().flatten().tolist()
        cells[chance.choice(free)] = player
    return winner(cells)


def search(board, player, rounds, seed):
    chance = random.Random(seed)
    moves = (board.flatten() == 0).nonzero().flatten().tolist()
    values = {move: 0 for move in moves}
    for _ in range(rounds):
        for move in moves:
            values[move] += player * playout(board, move, player, chance)
    return max(values, key=values.get), values


def search_on_lists(stones, player, rounds, seed):
    chance = random.Random(seed)
    moves = [place for place, stone in enumerate(stones) if stone == 0]
    values = {move: 0 for move in moves}
    for _ in range(rounds):
        for move in moves:
            cells, turn = list(stones), player
            cells[move] = turn
            while winner(torch.tensor(cells)) == 0 and 0 in cells:
                turn = -turn
                cells[chance.choice([p for p, stone in enumerate(cells) if stone == 0])] = turn
            values[move] += player * winner(torch.tensor(cells))
    return max(values, key=values.get), values


position = [1, 0, 0, 0, -1, 0, 0, 0, 1]
found = search(torch.tensor(position).view(3, 3), -1, rounds=12, seed=920)
SILENTLY_WRONG = found != search_on_lists(position, -1, rounds=12, seed=920)
