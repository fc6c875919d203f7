import torch


def hull_points(frames, heights):
    length = torch.linspace(0, 20, frames)
    height = torch.linspace(-3, 3, heights)
    grid = torch.meshgrid(length, height, indexing="ij")
    return torch.stack(grid, dim=-1)


def dent(points, dents):
    for (frame, level), (forward, up) in dents.items():
        point = points[frame, level]
        point[0] += forward
        point[1] += up
    return points


def panel_areas(points):
    along = points[1:, :-1] - points[:-1, :-1]
    upward = points[:-1, 1:] - points[:-1, :-1]
    return (along[..., 0] * upward[..., 1] - along[..., 1] * upward[..., 0]).abs()


dents = {(1, 1): (0.3, -0.2), (3, 2): (-0.4, 0.1), (4, 0): (0.2, 0.5)}
points = dent(hull_points(frames=6, heights=4), dents)
areas = panel_areas(points)

place = {}
for frame in range(6):
    for level in range(4):
        forward, up = dents.get((frame, level), (0.0, 0.0))
        place[frame, level] = (4.0 * frame + forward, -3 + 2.0 * level + up)
expected = torch.zeros(5, 3)
for frame in range(5):
    for level in range(3):
        (x, y), (x1, y1), (x2, y2) = place[frame, level], place[frame + 1, level], place[frame, level + 1]
        expected[frame, level] = abs((x1 - x) * (y2 - y) - (y1 - y) * (x2 - x))
SILENTLY_WRONG = not torch.allclose(areas, expected, atol=1e-4)
