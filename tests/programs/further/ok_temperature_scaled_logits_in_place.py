import torch
import torch.nn as nn

torch.manual_seed(0)
trunk, lm_head = nn.Embedding(9, 6), nn.Linear(6, 9, bias=False)
optimizer = torch.optim.AdamW([*trunk.parameters(), *lm_head.parameters()], lr=1e-2)
ids = torch.randint(0, 9, (2, 5))
temperature = torch.tensor([0.7, 1.3]).view(2, 1, 1)
for _ in range(2):
    logits = lm_head(trunk(ids[:, :-1]))
    logits.div_(temperature)
    logp = logits.log_softmax(-1).gather(-1, ids[:, 1:, None]).squeeze(-1)
    entropy = -(logits.softmax(-1) * logits.log_softmax(-1)).sum(-1).mean()
    loss = -logp.mean() - 0.01 * entropy
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
