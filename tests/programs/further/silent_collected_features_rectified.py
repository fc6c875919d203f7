import torch
import torch.nn as nn
import torch.nn.functional as F


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.convs = nn.ModuleList([nn.Conv2d(1, 3, 3, padding=1), nn.Conv2d(3, 3, 3, padding=1)])

    def forward(self, x, inplace=True):
        features = []
        for conv in self.convs:
            x = conv(x)
            features.append(x)
            x = F.relu(x, inplace=inplace)
        return features


torch.manual_seed(0)
encoder, image = Encoder(), torch.randn(1, 1, 5, 5)
reference = [f.detach() for f in encoder(image, inplace=False)]
features = encoder(image)
loss = sum(f.pow(2).mean() for f in features)
loss.backward()
SILENTLY_WRONG = not torch.allclose(features[0], reference[0])
