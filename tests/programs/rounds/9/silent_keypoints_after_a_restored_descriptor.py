import torch
import torch.nn as nn
import torch.nn.functional as F

_kernels = {}


def pooling_kernel(size):
    kernel = _kernels.get(size)
    if kernel is None:
        kernel = torch.eye(size * size)
        _kernels[size] = kernel
    return kernel.view(size * size, 1, size, size)


class PatchDescriptor(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.size = size
        self.register_buffer("kernel", pooling_kernel(size).float())

    def forward(self, patches):
        cells = F.conv2d(patches, self.kernel, stride=self.size)
        return F.normalize(cells.flatten(1), dim=1)


def match(first, second):
    return (first @ second.T).argmax(dim=1)


torch.manual_seed(912)
checkpoint = {"kernel": torch.rand(9, 1, 3, 3)}
left, right = torch.rand(20, 1, 6, 6), torch.rand(20, 1, 6, 6)
plain = PatchDescriptor(3)
tuned = PatchDescriptor(3)
tuned.load_state_dict(checkpoint)
matches = {
    "plain": match(plain(left), plain(right)),
    "tuned": match(tuned(left), tuned(right)),
}


def by_hand(patches, kernel):
    cells = patches.unfold(2, 3, 3).unfold(3, 3, 3)
    values = torch.einsum("bcyxhw,kchw->bkyx", cells, kernel)
    return F.normalize(values.flatten(1), dim=1)


SILENTLY_WRONG = False
for name, kernel in (("plain", torch.eye(9).view(9, 1, 3, 3)), ("tuned", checkpoint["kernel"])):
    expected = match(by_hand(left, kernel), by_hand(right, kernel))
    SILENTLY_WRONG |= not torch.equal(matches[name], expected)
