import torch
import torch.nn as nn
import torch.nn.functional as F


def mask_tokens(tokens, chosen, mask_id):
    labels = tokens
    tokens[chosen] = mask_id
    return tokens, labels


torch.manual_seed(0)
emb, head = nn.Embedding(12, 6), nn.Linear(6, 12)
tokens = torch.tensor([[5, 3, 8, 1], [7, 2, 9, 4]])
honest = tokens.clone()
chosen = torch.tensor([[False, True, False, False], [True, False, False, True]])

inputs, labels = mask_tokens(tokens, chosen, 11)
loss = F.cross_entropy(head(emb(inputs)).flatten(0, 1), labels.flatten())
loss.backward()
SILENTLY_WRONG = not torch.equal(labels, honest)
