import torch


class LowStorageSolver:
    fade = (0.0, -5 / 9, -153 / 128)
    take = (1 / 3, 15 / 16, 8 / 15)

    def __init__(self, rate, state, h):
        self.rate, self.h = rate, h
        self.state = state.clone()
        self.register = torch.zeros_like(state)

    def step(self):
        for a, b in zip(self.fade, self.take):
            self.register.mul_(a)
            self.register.add_(self.rate(self.state), alpha=self.h)
            self.state.add_(self.register, alpha=b)
        return self.state


torch.manual_seed(861)
springs = torch.zeros(6, 6, dtype=torch.double)
springs[:3, 3:] = torch.eye(3)
springs[3:, :3] = torch.tensor([[-4.0, 2.0, 0.0], [2.0, -4.0, 2.0], [0.0, 2.0, -4.0]])
springs[3:, 3:] = -0.1 * torch.eye(3)
start = torch.randn(6, dtype=torch.double)

solver = LowStorageSolver(lambda state: springs @ state, start, h=0.01)
energy = []
for _ in range(300):
    energy.append(solver.step().pow(2).sum())

moved = torch.linalg.matrix_exp(springs * 0.01)
expected, state = [], start
for _ in range(300):
    state = moved @ state
    expected.append(state.pow(2).sum())
SILENTLY_WRONG = not torch.allclose(torch.stack(energy), torch.stack(expected), atol=1e-4)
