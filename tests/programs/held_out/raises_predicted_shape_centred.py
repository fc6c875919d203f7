import torch
import torch.nn.functional as F
from torch import nn


class ShapePredictor(nn.Module):
    def __init__(self, points):
        super().__init__()
        self.register_buffer("template", torch.randn(points, 3))
        self.code = nn.Linear(5, 12)
        self.offsets = nn.Linear(12, points * 3)

    def forward(self, image_feature):
        hidden = F.leaky_relu(self.code(image_feature))
        shape_delta = torch.tanh(self.offsets(hidden)).view(-1, *self.template.shape)
        shape_delta -= shape_delta.mean(1, keepdims=True)
        return self.template + 0.1 * shape_delta


torch.manual_seed(0)
predictor = ShapePredictor(7)
vertices = predictor(torch.randn(2, 5))
edges = (vertices[:, 1:] - vertices[:, :-1]).norm(dim=-1)
loss = edges.mean() + vertices.pow(2).mean()
loss.backward()
