import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset


class Pictures(Dataset):
    def __init__(self):
        self.raw = torch.randint(0, 256, (6, 1, 4, 4), dtype=torch.uint8)

    def __len__(self):
        return len(self.raw)

    def __getitem__(self, index):
        img = self.raw[index].float().div_(255)
        img.sub_(0.5).div_(0.5)
        return img, index % 2


torch.manual_seed(0)
net = nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(inplace=True), nn.Flatten(), nn.Linear(8, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for images, labels in DataLoader(Pictures(), batch_size=3, shuffle=True):
    images.mul_(0.9)
    loss = F.cross_entropy(net(images), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
