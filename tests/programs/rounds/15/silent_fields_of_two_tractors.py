import torch


class Field:
    def __init__(self, size, sight=None):
        self.size, self.sight = size, sight

    def reset(self):
        self.board = torch.ones(self.size, self.size)
        self.places = [(0, 0), (self.size - 1, self.size - 1)]
        return [self.observe(k) for k in range(2)]

    def observe(self, k):
        if self.sight is None:
            return self.board
        row, column = self.places[k]
        rows = (torch.arange(self.size) - row).abs() <= self.sight
        columns = (torch.arange(self.size) - column).abs() <= self.sight
        return self.board * (rows[:, None] & columns)

    def step(self, moves):
        rewards = []
        for k, (down, right) in enumerate(moves):
            row, column = self.places[k]
            row, column = (row + down) % self.size, (column + right) % self.size
            rewards.append(self.board[row, column].item())
            self.board[row, column] *= 0.25
            self.places[k] = (row, column)
        return [self.observe(k) for k in range(2)], rewards


def play(field, moves):
    memory, seen = [], field.reset()
    for pair in moves:
        then, rewards = field.step(pair)
        memory.append((seen[0], sum(rewards), then[0]))
        seen = then
    return memory


torch.manual_seed(153)
steps = ((0, 1), (1, 0), (0, -1), (-1, 0))
moves = [[steps[i] for i in torch.randint(0, 4, (2,)).tolist()] for _ in range(20)]
weights = torch.rand(5, 5)
memory = play(Field(5), moves)
errors = torch.stack([r + 0.9 * (weights * s).sum() - (weights * p).sum() for p, r, s in memory])

grown, spots, expected = [[1.0] * 5 for _ in range(5)], [[0, 0], [4, 4]], []
for pair in moves:
    before, reward = torch.tensor(grown), 0.0
    for spot, (down, right) in zip(spots, pair):
        spot[0], spot[1] = (spot[0] + down) % 5, (spot[1] + right) % 5
        reward += grown[spot[0]][spot[1]]
        grown[spot[0]][spot[1]] *= 0.25
    expected.append(reward + 0.9 * (weights * torch.tensor(grown)).sum() - (weights * before).sum())
SILENTLY_WRONG = not torch.allclose(errors, torch.stack(expected), atol=1e-4)
