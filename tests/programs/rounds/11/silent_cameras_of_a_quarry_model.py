import torch


class Views:
    def __init__(self, lenses, poses):
        self.lenses, self.poses = lenses, poses

    def __getitem__(self, i):
        return {"lens": self.lenses[i], "pose": self.poses[i]}

    def __len__(self):
        return len(self.lenses)


def stage_matrices(view, stages=3):
    matrices = {}
    lens = view["lens"]
    lens[:2] *= 0.5 ** (stages - 1)
    for stage in range(stages):
        matrices[stage] = lens @ view["pose"]
        lens[:2] *= 2
    return matrices


def project(points, views, stage):
    images = []
    for view in views:
        flat = points @ stage_matrices(view)[stage].T
        images.append(flat[:, :2] / flat[:, 2:])
    return torch.stack(images)


torch.manual_seed(3)
lenses = torch.tensor([[200.0, 0, 64], [0, 200, 48], [0, 0, 1]]).repeat(4, 1, 1)
poses = torch.cat([torch.eye(3).repeat(4, 1, 1), torch.randn(4, 3, 1) * 0.1], dim=2)
points = torch.cat([torch.randn(7, 2), torch.rand(7, 1) + 3, torch.ones(7, 1)], dim=1)
given = lenses.clone()
views = Views(lenses, poses)
coarse, fine = project(points, views, 0), project(points, views, 2)

rays = torch.einsum("vij,pj->vpi", poses, points)
centre = given[:, None, :2, 2]
expected = 200.0 * rays[..., :2] / rays[..., 2:] + centre
SILENTLY_WRONG = not torch.allclose(fine, expected, atol=1e-2)
