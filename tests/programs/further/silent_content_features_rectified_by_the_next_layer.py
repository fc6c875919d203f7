import torch
import torch.nn as nn

torch.manual_seed(0)
vgg = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(inplace=True), nn.Conv2d(4, 4, 3), nn.ReLU(inplace=True))
image = torch.randn(1, 3, 8, 8)
with torch.no_grad():
    honest = vgg[0](image).mean()
    features, x = [], image
    for layer in vgg:
        x = layer(x)
        if isinstance(layer, nn.Conv2d):
            features.append(x)
    content = features[0].mean()
SILENTLY_WRONG = abs(content.item() - honest.item()) > 1e-4
