import torch


def ratios_in_place(counts):
    """Turns the counts of all flasks into hourly ratios; the first column becomes one."""
    before = counts[:, :-1].clone()
    counts[:, 1:] /= before
    counts[:, 0] = 1.0
    return counts


def back_to_counts(ratios, first):
    return first[:, None] * ratios.cumprod(dim=1)


torch.manual_seed(41)
hours = torch.arange(15, dtype=torch.float64)
counts = 50 * torch.exp(torch.tensor([0.10, 0.21, 0.16, 0.05])[:, None] * hours)
counts *= 1 + 0.03 * torch.randn(4, 15, dtype=torch.float64)
written = counts.tolist()
first = counts[:, 0].clone()
ratios = ratios_in_place(counts)
busiest = int(ratios.prod(dim=1).argmax())
print("busiest flask", busiest, "ratios", ratios[busiest].tolist())

expected = torch.tensor([[1.0] + [row[h] / row[h - 1] for h in range(1, 15)] for row in written], dtype=torch.float64)
SILENTLY_WRONG = not (torch.allclose(ratios, expected, rtol=1e-6)
                      and torch.allclose(back_to_counts(ratios, first), torch.tensor(written, dtype=torch.float64), rtol=1e-6))
