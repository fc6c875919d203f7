import torch
import torch.nn as nn

IMAGE_TOKEN = 7


class MultimodalEmbedder(nn.Module):
    def __init__(self, vocab_size=8, dim=4):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, dim)
        self.project = nn.Linear(5, dim)

    def forward(self, input_ids, patches):
        hidden = self.embed(input_ids)
        mask = input_ids == IMAGE_TOKEN
        hidden.masked_scatter_(mask.unsqueeze(-1), self.project(patches).flatten(0, 1))
        return hidden.transpose(0, 1).contiguous()


torch.manual_seed(0)
model = MultimodalEmbedder()
ids = torch.tensor([[1, 7, 7, 2, 3], [7, 4, 5, 7, 6]])
patches = torch.randn(2, 2, 5)
hidden = model(ids, patches)
hidden.square().sum().backward()

rows = []
for sample, image in zip(ids.tolist(), patches):
    slots = iter(image)
    rows.append(torch.stack([
        model.project(next(slots)) if token == IMAGE_TOKEN else model.embed(torch.tensor(token))
        for token in sample
    ]))
expected = torch.stack(rows, dim=1)
(grad,) = torch.autograd.grad(expected.square().sum(), model.project.weight)
SILENTLY_WRONG = not (
    torch.allclose(hidden, expected, atol=1e-5)
    and torch.allclose(model.project.weight.grad, grad, atol=1e-4)
)
