import torch

MEANS, STDS = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def denormalize(tensor):
    image = tensor.clone()
    for channel, mean, std in zip(image[0], MEANS, STDS):
        channel.mul_(std).add_(mean)
    return image


torch.manual_seed(0)
x = torch.randn(1, 3, 4, 4, requires_grad=True)
shown = denormalize(x)
