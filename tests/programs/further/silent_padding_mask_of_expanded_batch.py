import torch

torch.manual_seed(0)
lengths = [4, 2, 3]
scores = torch.randn(3, 4, 4)
causal = torch.ones(4, 4).tril()
mask = causal.expand(3, 4, 4)
honest = mask.clone()
for i, n in enumerate(lengths):
    honest[i, :, n:] = 0.0

for i, n in enumerate(lengths):
    mask[i, :, n:] = 0.0
weights = scores.masked_fill(mask == 0, -1e9).softmax(-1)
SILENTLY_WRONG = not torch.equal(mask, honest)
