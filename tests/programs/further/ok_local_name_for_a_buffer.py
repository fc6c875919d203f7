import torch
import torch.nn as nn
import torch.nn.functional as F


class Tracker(nn.Module):
    def __init__(self, classes, width):
        super().__init__()
        self.register_buffer("centres", torch.zeros(classes, width))
        self.register_buffer("count", torch.zeros(classes))

    @torch.no_grad()
    def update(self, features, labels):
        for k in labels.unique():
            centre = self.centres[k]
            centre.lerp_(features[labels == k].mean(0), 0.1)
            self.count[k] += 1
        centres = self.centres
        centres.clamp_(-3, 3)
        return self.centres


torch.manual_seed(0)
encoder, tracker = nn.Linear(4, 3), Tracker(2, 3)
optimizer = torch.optim.SGD(encoder.parameters(), lr=0.1)
for _ in range(2):
    x, y = torch.randn(6, 4), torch.randint(0, 2, (6,))
    features = encoder(x)
    loss = F.mse_loss(features, tracker.centres[y])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    tracker.update(features.detach(), y)
print(tracker.centres.norm())
