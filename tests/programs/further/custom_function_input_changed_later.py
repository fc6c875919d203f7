import torch
import torch.nn as nn


class Splat(torch.autograd.Function):
    @staticmethod
    def forward(ctx, image, flow):
        ctx.save_for_backward(image, flow)
        return image * torch.cos(flow)

    @staticmethod
    def backward(ctx, grad):
        image, flow = ctx.saved_tensors
        return grad * torch.cos(flow), -grad * image * torch.sin(flow)


torch.manual_seed(0)
estimate = nn.Conv2d(1, 1, 3, padding=1)
image = torch.rand(1, 1, 4, 4)
flow = estimate(image)
warped = Splat.apply(image, flow)
flow *= 0.5
loss = (warped - image).abs().mean() + flow.pow(2).mean()
loss.backward()
