import torch


def turn(angle, axis):
    c, s, zero, one = angle.cos(), angle.sin(), torch.zeros_like(angle), torch.ones_like(angle)
    if axis == "z":
        rows = [c, -s, zero, s, c, zero, zero, zero, one]
    else:
        rows = [c, zero, s, zero, one, zero, -s, zero, c]
    return torch.stack(rows, dim=-1).view(-1, 3, 3)


class Arm:
    def __init__(self, lengths, axes):
        self.lengths, self.axes = lengths, axes

    def reach(self, angles):
        count = len(angles)
        pose, place = torch.eye(3).repeat(count, 1, 1), torch.zeros(count, 3)
        for k, (length, axis) in enumerate(zip(self.lengths, self.axes)):
            torch.bmm(pose, turn(angles[:, k], axis), out=pose)
            place = place + length * pose[:, :, 0]
        return place


def within(arm, angles, centre, radius):
    hands = arm.reach(angles)
    return hands, ((hands - centre).norm(dim=1) < radius).float().mean()


torch.manual_seed(14)
arm = Arm((0.8, 0.6, 0.4, 0.2), "zyzy")
angles = torch.rand(30, 4) * 2 - 1
hands, share = within(arm, angles, torch.tensor([1.2, 0.3, 0.0]), 0.6)

rows = []
for a in angles.tolist():
    place = torch.zeros(3)
    for length, axis, angle in reversed(list(zip((0.8, 0.6, 0.4, 0.2), "zyzy", a))):
        x, y, z = (place + torch.tensor([length, 0.0, 0.0])).unbind()
        c, s = torch.cos(torch.tensor(angle)), torch.sin(torch.tensor(angle))
        place = torch.stack([c * x - s * y, s * x + c * y, z] if axis == "z" else [c * x + s * z, y, c * z - s * x])
    rows.append(place)
SILENTLY_WRONG = not torch.allclose(hands, torch.stack(rows), atol=1e-4)
