import torch
import torch.nn.functional as F

EMPTY, TREE, FIRE = 0, 1, 2


def neighbours_on_fire(forest, row):
    rows, columns = forest.shape
    around = torch.zeros(columns, dtype=torch.bool)
    for other in range(max(row - 1, 0), min(row + 2, rows)):
        burning = forest[other] == FIRE
        around |= burning
        around[1:] |= burning[:-1]
        around[:-1] |= burning[1:]
    return around


def burn_one_hour(forest):
    for row in range(forest.shape[0]):
        lit = (forest[row] == TREE) & neighbours_on_fire(forest, row)
        out = forest[row] == FIRE
        forest[row] = torch.where(lit, FIRE, torch.where(out, EMPTY, forest[row]))
    return forest


torch.manual_seed(71)
forest = (torch.rand(14, 20) < 0.75).long()
forest[2, 5] = FIRE
expected = forest.clone()

burnt = []
for hour in range(6):
    forest = burn_one_hour(forest)
    burnt.append(int((forest == FIRE).sum()))

control = []
for hour in range(6):
    fire = (expected == FIRE).float()
    near = F.max_pool2d(fire[None, None], 3, stride=1, padding=1)[0, 0] > 0
    expected = torch.where((expected == TREE) & near, FIRE, torch.where(fire > 0, EMPTY, expected))
    control.append(int((expected == FIRE).sum()))
SILENTLY_WRONG = burnt != control
