import torch


def bed_slope(shape):
    return torch.linspace(1.0, 0.2, shape[1]).expand(shape)


def run_off(land, inflow, hours, share=0.3):
    """Water on a slope, one page for each hour; the slope is the same for all rows."""
    slope = bed_slope(land.shape)
    depth = torch.zeros_like(land).unsqueeze(0).expand(hours, -1, -1).clone()
    depth[0] = inflow
    for hour in range(1, hours):
        moved = share * slope * depth[hour - 1]
        depth[hour] = depth[hour - 1] - moved
        depth[hour, :, 1:] += moved[:, :-1]
    return depth


torch.manual_seed(10)
land = torch.rand(4, 9)
inflow = torch.zeros(4, 9)
inflow[:, 0] = torch.rand(4) + 1.0
depth = run_off(land, inflow, hours=8)
print("water by hour", [round(float(page.sum()), 3) for page in depth])

slope = torch.linspace(1.0, 0.2, 9).tolist()
expected = [inflow.tolist()]
for hour in range(1, 8):
    page = []
    for row in expected[-1]:
        moved = [0.3 * s * w for s, w in zip(slope, row)]
        page.append([w - m + (moved[j - 1] if j else 0.0) for j, (w, m) in enumerate(zip(row, moved))])
    expected.append(page)
SILENTLY_WRONG = not torch.allclose(depth, torch.tensor(expected), atol=1e-5)
