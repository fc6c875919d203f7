import torch


def turn(rates, dt):
    x, y, z = (rates * dt).unbind(dim=-1)
    zero = torch.zeros_like(x)
    spin = torch.stack([zero, -z, y, z, zero, -x, -y, x, zero], dim=-1).view(-1, 3, 3)
    return torch.linalg.matrix_exp(spin)


class Heading:
    def __init__(self, count):
        self.pose, self.spare = torch.eye(3).repeat(count, 1, 1), torch.empty(count, 3, 3)

    def advance(self, rates, dt):
        torch.bmm(self.pose, turn(rates, dt), out=self.spare)
        self.pose, self.spare = self.spare, self.pose

    def straighten(self):
        square = self.pose.transpose(1, 2) @ self.pose
        fix = 1.5 * torch.eye(3) - 0.5 * square
        torch.bmm(self.pose, fix, out=self.spare)
        self.pose, self.spare = self.spare, self.pose


def track(rates, dt):
    heading = Heading(rates.shape[1])
    for k, row in enumerate(rates):
        heading.advance(row, dt)
        if k % 10 == 9:
            heading.straighten()
    return heading.pose


torch.manual_seed(15)
rates = torch.randn(40, 6, 3)
found = track(rates, 0.05)

poses = []
for unit in range(6):
    pose = torch.eye(3, dtype=torch.float64)
    for row in rates[:, unit].double():
        angle = row.norm() * 0.05
        a = row / row.norm()
        cross = torch.linalg.cross(a.expand(3, 3), torch.eye(3, dtype=torch.float64), dim=1).T
        pose = pose @ (torch.eye(3) + angle.sin() * cross + (1 - angle.cos()) * cross @ cross)
    poses.append(pose)
SILENTLY_WRONG = not torch.allclose(found.double(), torch.stack(poses), atol=1e-4)
