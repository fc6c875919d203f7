import torch
import torch.nn as nn


class FeedForward(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)
        self.drop = nn.Dropout(0.3, inplace=True)

    def forward(self, x):
        y = self.down(torch.relu_(self.up(self.norm(x))))
        y = self.drop(y)
        y += x
        return y


torch.manual_seed(0)
net = nn.Sequential(FeedForward(4), FeedForward(4), nn.Linear(4, 1))
loss = net(torch.randn(5, 4)).pow(2).mean()
loss.backward()
