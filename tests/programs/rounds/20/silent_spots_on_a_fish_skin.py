import torch


def spread(field):
    return (field.roll(1, 0) + field.roll(-1, 0) + field.roll(1, 1) + field.roll(-1, 1)) - 4 * field


class GrayScott:
    def __init__(self, size, feed=0.037, kill=0.06, dt=1.0):
        self.food = torch.ones(size, size, dtype=torch.float64)
        self.dye = torch.zeros(size, size, dtype=torch.float64)
        self.feed, self.kill, self.dt = feed, kill, dt

    def drop(self, row, column, width):
        self.food[row:row + width, column:column + width] = 0.5
        self.dye[row:row + width, column:column + width] = 0.25

    def step(self):
        before = self.food.contiguous()
        self.food += self.dt * (0.16 * spread(self.food) - self.food * self.dye ** 2
                                + self.feed * (1 - self.food))
        self.dye += self.dt * (0.08 * spread(self.dye) + before * self.dye ** 2
                               - (self.feed + self.kill) * self.dye)

    def run(self, steps):
        for _ in range(steps):
            self.step()
        return self.dye


skin = GrayScott(size=24)
skin.drop(5, 8, width=6)
skin.drop(14, 3, width=4)
dye = skin.run(steps=60)
print("dye in all", dye.sum().item())

u = torch.ones(24, 24, dtype=torch.float64)
v = torch.zeros(24, 24, dtype=torch.float64)
for row, column, width in ((5, 8, 6), (14, 3, 4)):
    u[row:row + width, column:column + width] = 0.5
    v[row:row + width, column:column + width] = 0.25
for _ in range(60):
    gain = u * v * v
    new_u = u + 0.16 * spread(u) - gain + 0.037 * (1 - u)
    new_v = v + 0.08 * spread(v) + gain - 0.097 * v
    u, v = new_u, new_v
SILENTLY_WRONG = not torch.allclose(dye, v, atol=1e-8)
