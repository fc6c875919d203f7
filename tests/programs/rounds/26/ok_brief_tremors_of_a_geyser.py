import torch


def windows_to_tremors(tremors, times, spacing):
    """For each window the number of the tremor that it lies in, or -1; brief ones get one window."""
    spans = tremors.clone()
    brief = spans[:, 1] < spacing
    spans[brief, 1] = spacing
    inside = (times[:, None] >= spans[:, 0]) & (times[:, None] < spans.sum(dim=1))
    owner = torch.full((len(times),), -1)
    rows, numbers = inside.nonzero(as_tuple=True)
    owner[rows] = numbers
    return owner


def mean_strength(strength, tremors, times, spacing):
    """Mean strength in each tremor and the energy by its true length."""
    owner = windows_to_tremors(tremors, times, spacing)
    total = torch.zeros(len(tremors))
    total.index_add_(0, owner[owner >= 0], strength[owner >= 0])
    mean = total / owner[owner >= 0].bincount(minlength=len(tremors))
    return mean, mean * tremors[:, 1]


torch.manual_seed(21)
spacing = 1.0
times = torch.arange(120) * spacing + 0.5
tremors = torch.tensor([[3.2, 6.0], [20.1, 0.4], [40.7, 12.5], [77.0, 0.9], [99.3, 0.2]])
strength = torch.rand(120)
mean, energy = mean_strength(strength, tremors, times, spacing)
print("energy", energy.tolist())

expected = []
for start, length in [(3.2, 6.0), (20.1, 0.4), (40.7, 12.5), (77.0, 0.9), (99.3, 0.2)]:
    values = [
        s for t, s in zip(times.tolist(), strength.tolist())
        if start <= t < start + max(length, spacing)
    ]
    expected.append(sum(values) / len(values) * length)
SILENTLY_WRONG = not torch.allclose(energy, torch.tensor(expected), rtol=1e-4)
