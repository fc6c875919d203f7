import torch
import torch.nn as nn


def tile_images(images, columns=4, gap=1):
    for image in images:
        image.sub_(image.min()).div_(image.max() + 1e-5)
    size = images.shape[-1] + gap
    rows = -(-len(images) // columns)
    sheet = torch.full((rows * size, columns * size), 0.5)
    for i, image in enumerate(images):
        top, left = i // columns * size, i % columns * size
        sheet[top:top + size - gap, left:left + size - gap] = image[0]
    return sheet


def train(pictures=None):
    torch.manual_seed(31)
    net = nn.Sequential(nn.Conv2d(1, 8, 5), nn.Tanh(), nn.Flatten(), nn.Linear(8 * 16, 3))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
    images, labels = torch.randn(24, 1, 8, 8), torch.randint(0, 3, (24,))
    for step in range(12):
        loss = nn.functional.cross_entropy(net(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if pictures is not None and step % 5 == 0:
            pictures.append(tile_images(net[0].weight.data))
    return loss.item()


gallery = []
final = train(gallery)
SILENTLY_WRONG = abs(final - train()) > 1e-6
