import torch
import torch.nn as nn

features = {}


def capture(name):
    def hook(module, args, output):
        features[name] = output.clone()

    return hook


torch.manual_seed(0)
vgg_like = nn.Sequential(nn.Conv2d(1, 3, 3, padding=1), nn.ReLU(inplace=True), nn.MaxPool2d(2))
vgg_like[0].register_forward_hook(capture("pre"))
vgg_like[1].register_forward_hook(capture("post"))
out = vgg_like(torch.randn(1, 1, 6, 6))
loss = out.mean() + features["pre"].pow(2).mean() + features["post"].mean()
loss.backward()
assert features["pre"].min() < 0
