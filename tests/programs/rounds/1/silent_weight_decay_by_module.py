import torch
import torch.nn as nn


class ConvBlock(nn.Module):
    def __init__(self, in_ch, out_ch):
        super().__init__()
        self.conv = nn.Conv2d(in_ch, out_ch, 3, padding=1)
        self.act = nn.GELU()

    def forward(self, x):
        return self.act(self.conv(x))


class SmallNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(ConvBlock(3, 4), ConvBlock(4, 8))
        self.classifier = nn.Linear(8, 2)

    def forward(self, x):
        return self.classifier(self.features(x).mean(dim=(2, 3)))


@torch.no_grad()
def apply_weight_decay(model, lr, decay):
    for module in model.modules():
        for name, param in module.named_parameters():
            if name.endswith("weight"):
                param.mul_(1 - lr * decay)


def train_step(model, optimizer, x, y, decay):
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    apply_weight_decay(model, optimizer.param_groups[0]["lr"], decay)
    optimizer.step()


def run(decay_in_optimizer):
    torch.manual_seed(0)
    model = SmallNet()
    weights = [p for n, p in model.named_parameters() if n.endswith("weight")]
    biases = [p for n, p in model.named_parameters() if n.endswith("bias")]
    groups = [{"params": weights, "weight_decay": 0.5 if decay_in_optimizer else 0.0},
              {"params": biases, "weight_decay": 0.0}]
    optimizer = torch.optim.SGD(groups, lr=0.1)
    x, y = torch.randn(8, 3, 6, 6), torch.randint(0, 2, (8,))
    for _ in range(3):
        train_step(model, optimizer, x, y, 0.0 if decay_in_optimizer else 0.5)
    return model


trained, expected = run(False), run(True)
SILENTLY_WRONG = not all(
    torch.allclose(a, b, atol=1e-5) for a, b in zip(trained.parameters(), expected.parameters())
)
