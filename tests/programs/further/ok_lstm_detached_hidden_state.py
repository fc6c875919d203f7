import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
embed = nn.Embedding(11, 6)
lstm = nn.LSTM(6, 8, batch_first=True)
head = nn.Linear(8, 11)
params = [*embed.parameters(), *lstm.parameters(), *head.parameters()]
optimizer = torch.optim.SGD(params, lr=0.5)
text = torch.randint(0, 11, (3, 13))

state = (torch.zeros(1, 3, 8), torch.zeros(1, 3, 8))
for start in range(0, 12, 4):
    inputs, targets = text[:, start : start + 4], text[:, start + 1 : start + 5]
    state = tuple(s.detach() for s in state)
    out, state = lstm(embed(inputs), state)
    loss = F.cross_entropy(head(out).flatten(0, 1), targets.flatten())
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(params, 0.5)
    optimizer.step()
