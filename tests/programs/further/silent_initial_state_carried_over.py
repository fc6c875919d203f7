import torch

torch.manual_seed(0)
sequences = [torch.randn(5, 3) for _ in range(3)]
h0 = torch.zeros(3)
finals, honest = [], []
for seq in sequences:
    h = h0
    for x in seq:
        h += x
    finals.append(h.sum().item())
    honest.append(seq.sum().item())
SILENTLY_WRONG = any(abs(a - b) > 1e-4 for a, b in zip(finals, honest))
