import math

import torch
import torch.nn as nn


class Detect(nn.Module):
    def __init__(self, anchors, classes, strides):
        super().__init__()
        self.na, self.stride = anchors, strides
        self.m = nn.ModuleList(nn.Conv2d(4, anchors * (5 + classes), 1) for _ in strides)


def initialize_biases(detect):
    for mi, s in zip(detect.m, detect.stride):
        b = mi.bias.view(detect.na, -1)
        b[:, 4] += math.log(8 / (640 / s) ** 2)
        mi.bias = nn.Parameter(b.view(-1))


torch.manual_seed(0)
detect = Detect(3, 2, [8, 16])
initialize_biases(detect)
