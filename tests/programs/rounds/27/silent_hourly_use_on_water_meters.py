import torch


def hourly_use(readings):
    """From the counters of the meters (a row each) to what ran through in every hour."""
    use = readings.clone()
    later = use[:, 1:]
    earlier = use[:, :-1]
    later.sub_(earlier)
    return later


def leaks(use, night=slice(0, 5)):
    per_day = use.reshape(use.shape[0], -1, 24)
    return per_day[:, :, night].amin(dim=(1, 2))


torch.manual_seed(25)
hours = torch.arange(72)
flow = 40 * torch.rand(6, 72, dtype=torch.float64) * ((hours % 24) > 4)
flow[3] += 6.5
counters = torch.cat([1000 * torch.rand(6, 1, dtype=torch.float64), flow], dim=1).cumsum(dim=1)
use = hourly_use(counters)
dripping = leaks(use)
for meter, drip in enumerate(dripping.tolist()):
    print("meter", meter, "least use at night", round(drip, 2))
print("largest hour", round(float(use.max()), 1))

SILENTLY_WRONG = not torch.allclose(use, flow, atol=1e-6)
