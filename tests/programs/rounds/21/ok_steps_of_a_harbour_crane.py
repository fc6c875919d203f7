import torch


class Crane:
    """Simulator whose observation is made of its own state tensors."""

    def __init__(self):
        self.hook = torch.zeros(2)
        self.load = {"angle": torch.tensor([0.2]), "rate": torch.zeros(1)}

    def observe(self):
        return {"hook": self.hook, "load": self.load}

    def step(self, push):
        self.hook += 0.1 * push
        self.load["rate"] += -0.5 * self.load["angle"] - 0.2 * push[0]
        self.load["angle"] += 0.1 * self.load["rate"]
        return self.observe()


class Storage:
    def __init__(self, size, example):
        self.rows = self.empty(size, example)

    def empty(self, size, value):
        if isinstance(value, dict):
            return {key: self.empty(size, part) for key, part in value.items()}
        return torch.empty(size, *value.shape)

    def put(self, k, value, rows=None):
        rows = self.rows if rows is None else rows
        for key, part in value.items():
            if isinstance(part, dict):
                self.put(k, part, rows[key])
            else:
                rows[key][k].copy_(part)


torch.manual_seed(24)
pushes = torch.randn(30, 2)
crane = Crane()
storage = Storage(31, crane.observe())
storage.put(0, crane.observe())
for k, push in enumerate(pushes):
    storage.put(k + 1, crane.step(push))
angles = storage.rows["load"]["angle"].squeeze(1)
moves = storage.rows["hook"].diff(dim=0)
print("largest swing", angles.abs().max().item(), "way of the hook", moves.norm(dim=1).sum().item())

angle, rate, expected = 0.2, 0.0, [0.2]
for a, _ in pushes.tolist():
    rate = rate - 0.5 * angle - 0.2 * a
    angle = angle + 0.1 * rate
    expected.append(angle)
SILENTLY_WRONG = not (torch.allclose(angles, torch.tensor(expected), atol=1e-4)
                      and torch.allclose(moves, 0.1 * pushes, atol=1e-4))
