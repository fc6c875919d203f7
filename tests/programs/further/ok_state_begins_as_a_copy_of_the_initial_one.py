import torch

torch.manual_seed(0)
sequences = [torch.randn(5, 3) for _ in range(3)]
h0 = torch.zeros(3)
finals = []
for seq in sequences:
    h = h0.clone()
    for x in seq:
        h += x
    finals.append(h.sum().item())
for seq in sequences:
    h = h0
    for x in seq:
        h = torch.tanh(h + x)
    finals.append(h.sum().item())
