import torch


def mixup(images, lam):
    return images.mul_(lam).add_((1 - lam) * images.flip(0))


torch.manual_seed(0)
batch = torch.rand(4, 3)
wanted = 0.3 * batch + 0.7 * batch.flip(0)
mixed = mixup(batch.clone(), 0.3)
SILENTLY_WRONG = not torch.allclose(mixed, wanted)
