import torch
import torch.nn.functional as F
from torch import nn


class ProposalModule(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv1d(width, width, 1), nn.Conv1d(width, width, 1)
        self.conv3 = nn.Conv1d(width, 5, 1)
        self.bn1, self.bn2 = nn.BatchNorm1d(width), nn.BatchNorm1d(width)

    def forward(self, features, end_points):
        original_feature = features
        net = F.relu(self.bn1(self.conv1(features)))
        net = F.relu(self.bn2(self.conv2(net)))
        net += original_feature
        net = self.conv3(net)
        end_points["center"], end_points["score"] = net[:, :3], net[:, 3:]
        return end_points


torch.manual_seed(3)
module = ProposalModule(4)
end_points = module(torch.randn(2, 4, 6), {})
loss = F.huber_loss(end_points["center"], torch.zeros(2, 3, 6)) + end_points["score"].logsumexp(1).mean()
loss.backward()
