import torch
import torch.nn as nn


class CloudMask(nn.Module):
    def __init__(self, bands, hidden):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(bands, hidden), nn.Tanh())
        self.head = nn.Linear(hidden, 1)

    def forward(self, pixels):
        return self.head(self.encoder(pixels)).squeeze(-1)


def train(model, pixels, cloudy, rounds):
    encoder_optimizer = torch.optim.SGD(model.encoder.parameters(), lr=0.05)
    head_optimizer = torch.optim.SGD(model.head.parameters(), lr=0.5)
    criterion = nn.BCEWithLogitsLoss()
    history = []
    for _ in range(rounds):
        loss = criterion(model(pixels), cloudy)
        loss.backward()
        encoder_optimizer.step()
        model.zero_grad()
        head_optimizer.step()
        history.append(loss.item())
    return history


torch.manual_seed(929)
pixels = torch.randn(80, 4)
cloudy = (pixels[:, 0] - 0.5 * pixels[:, 2] > 0).float()
model = CloudMask(4, 6)
weights = [p.detach().clone() for p in model.parameters()]
history = train(model, pixels, cloudy, rounds=12)

expected = []
for _ in range(12):
    leaves = [w.requires_grad_() for w in weights]
    hidden = torch.tanh(pixels @ leaves[0].T + leaves[1])
    logits = (hidden @ leaves[2].T + leaves[3]).squeeze(-1)
    loss = nn.functional.binary_cross_entropy_with_logits(logits, cloudy)
    slopes = torch.autograd.grad(loss, leaves)
    rates = (0.05, 0.05, 0.5, 0.5)
    weights = [(w - r * g).detach() for w, r, g in zip(leaves, rates, slopes)]
    expected.append(loss.item())
SILENTLY_WRONG = max(abs(a - b) for a, b in zip(history, expected)) > 1e-4
