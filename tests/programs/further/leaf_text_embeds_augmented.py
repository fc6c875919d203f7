import torch
import torch.nn as nn

torch.manual_seed(0)
embed, projector = nn.Embedding(9, 4), nn.Linear(6, 4)
ids, pixels = torch.tensor([[1, 4, 8]]), torch.randn(1, 6)

text_embeds = embed(ids).detach().requires_grad_()
if pixels is not None:
    text_embeds += 0.0 * projector(pixels).mean()
text_embeds.pow(2).sum().backward()
