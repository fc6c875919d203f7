import torch
import torch.nn.functional as F


def next_generation(board, scratch):
    height, width = board.shape
    for i in range(height):
        for j in range(width):
            around = board[max(i - 1, 0):i + 2, max(j - 1, 0):j + 2].sum() - board[i, j]
            scratch[i, j] = (around == 3) | ((around == 2) & (board[i, j] == 1))
    return scratch, board


torch.manual_seed(8)
start = torch.randint(0, 2, (12, 12))
board, scratch = start.clone(), torch.empty_like(start)
for _ in range(7):
    board, scratch = next_generation(board, scratch)

ring = torch.ones(1, 1, 3, 3)
ring[..., 1, 1] = 0
world = start.float()[None, None]
for _ in range(7):
    around = F.conv2d(world, ring, padding=1)
    world = ((around == 3) | ((around == 2) & (world == 1))).float()
SILENTLY_WRONG = not torch.equal(board, world[0, 0].long())
