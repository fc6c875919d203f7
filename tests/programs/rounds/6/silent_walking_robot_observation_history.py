import torch


class ObservationHistory:
    def __init__(self, robots, width, length):
        self.width = width
        self.buffer = torch.zeros(robots, width * length)

    def reset(self, robots, observation):
        self.buffer[robots] = observation.repeat(1, self.buffer.shape[1] // self.width)

    def insert(self, observation):
        self.buffer[:, self.width:] = self.buffer[:, :-self.width]
        self.buffer[:, :self.width] = observation

    def get(self, *ages):
        return torch.cat([self.buffer[:, a * self.width:(a + 1) * self.width] for a in ages], dim=1)


torch.manual_seed(605)
robots, width = 6, 32
history = ObservationHistory(robots, width, 4)
observations = [torch.randn(robots, width)]
history.reset(torch.arange(robots), observations[0])
for step in range(7):
    observations.append(0.9 * observations[-1] + 0.2 * torch.randn(robots, width))
    history.insert(observations[-1])

speed = history.get(0) - history.get(1)
jerk = history.get(0) - 3 * history.get(1) + 3 * history.get(2) - history.get(3)

o = observations
expected_speed = o[-1] - o[-2]
expected_jerk = o[-1] - 3 * o[-2] + 3 * o[-3] - o[-4]
SILENTLY_WRONG = not (torch.allclose(speed, expected_speed) and torch.allclose(jerk, expected_jerk, atol=1e-5))
