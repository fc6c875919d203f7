import torch


class Meadow:
    def __init__(self, size):
        self.size = size

    def reset(self):
        self.board = torch.ones(self.size, self.size)
        self.places = [(0, 0), (self.size - 1, self.size - 1)]
        return self.board

    def step(self, moves):
        reward = 0.0
        for k, (down, right) in enumerate(moves):
            row, column = self.places[k]
            row, column = (row + down) % self.size, (column + right) % self.size
            reward += self.board[row, column].item()
            self.board[row, column] *= 0.5
            self.places[k] = (row, column)
        return self.board, reward


class Memory:
    def __init__(self, length, size):
        self.states, self.rewards = torch.zeros(length + 1, size, size), torch.zeros(length)
        self.place = 0

    def begin(self, state):
        self.states[0] = state

    def push(self, state, reward):
        self.rewards[self.place] = reward
        self.place += 1
        self.states[self.place] = state


def play(meadow, memory, moves):
    memory.begin(meadow.reset())
    for pair in moves:
        memory.push(*meadow.step(pair))
    return memory


torch.manual_seed(154)
steps = ((0, 1), (1, 0), (0, -1), (-1, 0))
moves = [[steps[i] for i in torch.randint(0, 4, (2,)).tolist()] for _ in range(18)]
weights, memory = torch.rand(4, 4), play(Meadow(4), Memory(18, 4), moves)
values = (weights * memory.states).sum(dim=(1, 2))
errors = memory.rewards + 0.9 * values[1:] - values[:-1]

grown, spots, expected = [[1.0] * 4 for _ in range(4)], [[0, 0], [3, 3]], []
for pair in moves:
    before, reward = torch.tensor(grown), 0.0
    for spot, (down, right) in zip(spots, pair):
        spot[0], spot[1] = (spot[0] + down) % 4, (spot[1] + right) % 4
        reward += grown[spot[0]][spot[1]]
        grown[spot[0]][spot[1]] *= 0.5
    expected.append(reward + 0.9 * (weights * torch.tensor(grown)).sum() - (weights * before).sum())
SILENTLY_WRONG = not torch.allclose(errors, torch.stack(expected), atol=1e-4)
