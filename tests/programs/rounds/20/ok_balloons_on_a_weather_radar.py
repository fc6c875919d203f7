import torch


class Balloon:
    """Kalman filter for the height and the climb of one balloon."""

    move = torch.tensor([[1.0, 1.0], [0.0, 1.0]], dtype=torch.float64)
    drift = torch.diag(torch.tensor([0.01, 0.02], dtype=torch.float64))
    first = torch.diag(torch.tensor([9.0, 4.0], dtype=torch.float64))
    noise = 1.5

    def __init__(self, height):
        self.state = torch.tensor([height, 0.0], dtype=torch.float64)
        self.spread = self.first.clone()

    def predict(self):
        self.state.copy_(self.move @ self.state)
        self.spread.copy_(self.move @ self.spread @ self.move.T).add_(self.drift)

    def update(self, height):
        gain = self.spread[:, 0] / (self.spread[0, 0] + self.noise)
        self.state += gain * (height - self.state[0])
        self.spread -= torch.outer(gain, self.spread[0])

    def surprise(self, height):
        return (height - self.state[0]) ** 2 / (self.spread[0, 0] + self.noise)


def follow(soundings):
    balloons, surprises = {}, {}
    for name, height in soundings:
        if name not in balloons:
            balloons[name] = Balloon(height)
            surprises[name] = []
            continue
        balloon = balloons[name]
        balloon.predict()
        surprises[name].append(balloon.surprise(height))
        balloon.update(height)
    return {name: torch.stack(line).mean() for name, line in surprises.items()}


torch.manual_seed(24)
climbs = {"north": 5.0, "coast": 3.5, "valley": 4.2}
soundings = []
for k in range(12):
    for turn, (name, climb) in enumerate(climbs.items()):
        if k >= 3 * turn:
            soundings.append((name, climb * k + 1.2 * float(torch.randn(()))))
means = follow(soundings)
print({name: mean.item() for name, mean in means.items()})

wrong = False
for name in climbs:
    line = [height for other, height in soundings if other == name]
    x, v, a, b, c, total = line[0], 0.0, 9.0, 0.0, 4.0, 0.0
    for z in line[1:]:
        x = x + v
        a, b, c = a + 2 * b + c + 0.01, b + c, c + 0.02
        total += (z - x) ** 2 / (a + 1.5)
        g, h = a / (a + 1.5), b / (a + 1.5)
        x, v = x + g * (z - x), v + h * (z - x)
        a, b, c = a - g * a, b - g * b, c - h * b
    wrong = wrong or abs(float(means[name]) - total / (len(line) - 1)) > 1e-8
SILENTLY_WRONG = wrong
