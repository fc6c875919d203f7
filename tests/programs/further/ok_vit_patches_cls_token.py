import torch
import torch.nn as nn
import torch.nn.functional as F


class TinyViT(nn.Module):
    def __init__(self, width=8, patches=4):
        super().__init__()
        self.patch = nn.Conv2d(3, width, 4, stride=4)
        self.cls = nn.Parameter(torch.zeros(1, 1, width))
        self.pos = nn.Parameter(torch.randn(1, patches + 1, width) * 0.02)
        layer = nn.TransformerEncoderLayer(width, 2, 16, dropout=0.1, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(width, 3)

    def forward(self, images):
        tokens = self.patch(images).flatten(2).transpose(1, 2)
        tokens = torch.cat([self.cls.expand(len(images), -1, -1), tokens], dim=1)
        tokens += self.pos
        return self.head(self.encoder(tokens)[:, 0])


torch.manual_seed(0)
vit = TinyViT()
loss = F.cross_entropy(vit(torch.randn(4, 3, 8, 8)), torch.tensor([0, 1, 2, 1]))
loss.backward()
