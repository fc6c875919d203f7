import torch

torch.manual_seed(0)
weights = [torch.randn(3), torch.randn(2)]
honest = [w.clone() for w in weights]
backup = weights.copy()
for i in range(2):
    weights[i] += 0.1 * torch.randn_like(weights[i])
score_new = sum(w.square().sum() for w in weights)
score_old = sum(w.square().sum() for w in backup)
SILENTLY_WRONG = score_new.item() == score_old.item()
