import torch
import torch.nn as nn
import torch.nn.functional as F


def stage(c_in, c_out):
    return nn.Sequential(nn.Conv2d(c_in, c_out, 3, padding=1), nn.BatchNorm2d(c_out), nn.ReLU(inplace=True))


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down1, self.down2 = stage(1, 4), stage(4, 8)
        self.bottom = stage(8, 8)
        self.up2 = nn.ConvTranspose2d(8, 8, 2, stride=2)
        self.dec2 = stage(16, 4)
        self.up1 = nn.ConvTranspose2d(4, 4, 2, stride=2)
        self.dec1 = stage(8, 4)
        self.out = nn.Conv2d(4, 1, 1)

    def forward(self, x):
        s1 = self.down1(x)
        s2 = self.down2(F.max_pool2d(s1, 2))
        x = self.bottom(F.max_pool2d(s2, 2))
        x = self.dec2(torch.cat([self.up2(x), s2], dim=1))
        x = self.dec1(torch.cat([self.up1(x), s1], dim=1))
        return self.out(x)


torch.manual_seed(0)
unet = UNet()
image, mask = torch.randn(2, 1, 8, 8), (torch.rand(2, 1, 8, 8) > 0.5).float()
loss = F.binary_cross_entropy_with_logits(unet(image), mask)
loss.backward()
