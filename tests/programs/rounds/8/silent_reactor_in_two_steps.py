import torch


class Kinetics:
    def __init__(self, k):
        self.k = k

    def __call__(self, out, y):
        forward = self.k[0] * y[0] * y[1]
        decay = self.k[1] * y[2]
        out[0] = decay - forward
        out[1] = decay - forward
        out[2] = forward - decay
        return out


class TwoStepSolver:
    def __init__(self, rates, y, h):
        self.rates, self.h = rates, h
        self.now = torch.empty_like(y)
        self.before = torch.empty_like(y)
        self.started = False

    def step(self, y):
        self.rates(self.now, y)
        if self.started:
            change = 1.5 * self.now - 0.5 * self.before
        else:
            change, self.started = self.now, True
        y = y + self.h * change
        self.before = self.now
        return y


kinetics = Kinetics(torch.tensor([2.0, 0.3], dtype=torch.double))
y = torch.tensor([1.0, 0.8, 0.0], dtype=torch.double)
h, path = 0.1, [y]
solver = TwoStepSolver(kinetics, y, h)
for _ in range(30):
    path.append(solver.step(path[-1]))

flow = [kinetics(torch.empty(3, dtype=torch.double), y)]
expected = [y, y + h * flow[0]]
for _ in range(29):
    flow.append(kinetics(torch.empty(3, dtype=torch.double), expected[-1]))
    expected.append(expected[-1] + h * (1.5 * flow[-1] - 0.5 * flow[-2]))
SILENTLY_WRONG = not torch.allclose(torch.stack(path), torch.stack(expected), atol=1e-6)
