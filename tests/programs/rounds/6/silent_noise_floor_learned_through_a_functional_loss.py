import torch
import torch.nn as nn
from torch.func import functional_call


class Detector(nn.Module):
    def __init__(self, bands):
        super().__init__()
        self.weigh = nn.Linear(bands, 1)
        self.register_buffer("floor", torch.zeros(bands))

    def forward(self, spectrum):
        if self.training:
            self.floor = torch.lerp(self.floor, spectrum.detach().mean(dim=0), 0.2)
        return self.weigh(spectrum - self.floor).squeeze(1)


class DetectionLoss:
    def __init__(self, detector):
        self.detector = detector
        self.tensors = {**dict(detector.named_parameters()), **dict(detector.named_buffers())}

    def __call__(self, spectrum, target):
        score = functional_call(self.detector, self.tensors, (spectrum,))
        return nn.functional.binary_cross_entropy_with_logits(score, target)


torch.manual_seed(608)
detector = Detector(5)
criterion = DetectionLoss(detector)
optimizer = torch.optim.SGD(detector.parameters(), lr=0.1)
recordings = [4 + torch.randn(16, 5) for _ in range(12)]
for spectrum in recordings:
    optimizer.zero_grad()
    criterion(spectrum, (spectrum[:, 0] > 4).float()).backward()
    optimizer.step()

detector.eval()
with torch.no_grad():
    quiet = detector(torch.full((1, 5), 4.0))
    floor = torch.zeros(5)
    for spectrum in recordings:
        floor = 0.8 * floor + 0.2 * spectrum.mean(dim=0)
    expected = detector.weigh(4.0 - floor)
SILENTLY_WRONG = not torch.allclose(detector.floor, floor, atol=1e-4)
