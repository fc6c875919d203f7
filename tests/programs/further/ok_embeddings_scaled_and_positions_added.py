import math

import torch
import torch.nn as nn

torch.manual_seed(0)
tok, pos = nn.Embedding(11, 8, padding_idx=0), nn.Embedding(6, 8)
layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, norm_first=True)
head = nn.Linear(8, 11)
ids = torch.tensor([[3, 5, 1, 0, 0, 0], [2, 2, 9, 4, 7, 0]])

h = tok(ids)
h *= math.sqrt(8)
h += pos(torch.arange(6))
h[ids == 0] = 0.0
h = nn.functional.dropout(h, 0.1, inplace=True)
out = layer(h, src_key_padding_mask=ids == 0)
logits = head(out)
logits[..., 0] = -1e4
loss = nn.functional.cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten(), ignore_index=0)
loss.backward()
