import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
emb, head = nn.Embedding(12, 6), nn.Linear(6, 12)
ids = torch.tensor([[5, 3, 8, 1], [7, 2, 9, 4]])
chosen = torch.tensor([[False, True, False, False], [True, False, False, True]])

labels = ids.clone()
labels[~chosen] = -100
inputs = ids.clone()
inputs[chosen] = 11
loss = F.cross_entropy(head(emb(inputs)).flatten(0, 1), labels.flatten(), ignore_index=-100)
loss.backward()
assert ids[0, 1] == 3
