import torch
import torch.nn.functional as F
from torch import nn


class TextModel(nn.Module):
    def __init__(self, vocabulary=10, width=4):
        super().__init__()
        self.embed_tokens = nn.Embedding(vocabulary, width)
        self.visual = nn.Linear(3, width)
        self.adapter = nn.Linear(width, width)
        self.head = nn.Linear(width, vocabulary)
        self.embed_tokens.requires_grad_(False)

    def enable_input_require_grads(self):
        self.embed_tokens.register_forward_hook(lambda module, args, output: output.requires_grad_(True))

    def forward(self, input_ids, pixels=None):
        inputs_embeds = self.embed_tokens(input_ids)
        if pixels is None:
            image_embeds = self.visual(torch.zeros(1, 3))
            inputs_embeds += image_embeds.mean() * 0.0
        else:
            inputs_embeds = torch.cat([self.visual(pixels), inputs_embeds])
        return self.head(inputs_embeds + self.adapter(inputs_embeds))


torch.manual_seed(0)
model = TextModel()
model.enable_input_require_grads()
tokens = torch.tensor([1, 5, 2, 7])
loss = F.cross_entropy(model(tokens[:-1]), tokens[1:])
loss.backward()
