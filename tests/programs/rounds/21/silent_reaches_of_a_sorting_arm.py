import torch


class SortingArm:
    """Simulator with state tensors that each step moves."""

    def __init__(self):
        self.camera = torch.zeros(4)
        self.joints = torch.zeros(3)
        self.belt = torch.zeros(1)

    def observe(self):
        return {"camera": self.camera, "arm": {"joints": self.joints, "belt": self.belt}}

    def step(self, push):
        self.joints += 0.1 * push
        self.belt += 0.05
        self.camera[:3] = self.joints.cos()
        self.camera[3] = self.belt[0]
        return self.observe()


def pack(observation):
    packed = {}
    for key, value in observation.items():
        packed[key] = value.clone() if isinstance(value, torch.Tensor) else dict(value)
    return packed


class Collector:
    def __init__(self, arm):
        self.arm = arm
        self.last = pack(arm.observe())
        self.steps = []

    def collect(self, push):
        after = pack(self.arm.step(push))
        self.steps.append((self.last, push, after))
        self.last = after


torch.manual_seed(6)
pushes = torch.randn(25, 3)
collector = Collector(SortingArm())
for push in pushes:
    collector.collect(push)
moves = torch.stack([b["arm"]["joints"] - a["arm"]["joints"] for a, _, b in collector.steps])
gain = (moves * pushes).sum() / pushes.square().sum()
views = torch.stack([b["camera"] - a["camera"] for a, _, b in collector.steps])
print("gain of the drives", gain.item(), "change of the picture", views.abs().mean().item())

SILENTLY_WRONG = abs(gain.item() - 0.1) > 1e-4
