import torch
import torch.nn as nn


class ScaleGradient(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.factor = factor
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad_output):
        grad_output *= ctx.factor
        return grad_output, None


class Encoder(nn.Module):
    def __init__(self, inputs, width, factor=None):
        super().__init__()
        self.first, self.second = nn.Linear(inputs, width), nn.Linear(width, width)
        self.factor = factor

    def forward(self, x):
        out = self.second(self.first(x).tanh())
        return out if self.factor is None else ScaleGradient.apply(out, self.factor)


class Fusion(nn.Module):
    def __init__(self):
        super().__init__()
        self.audio = Encoder(10, 6)
        self.text = Encoder(8, 6, factor=0.1)
        self.head = nn.Linear(6, 3)

    def forward(self, audio, text):
        return self.head(self.audio(audio) + self.text(text))


def epoch(model, optimizer, batches):
    for audio, text, label in batches:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(audio, text), label).backward()
        optimizer.step()


torch.manual_seed(1905)
model = Fusion().double()
start = {name: p.detach().clone() for name, p in model.named_parameters()}
batches = [
    (torch.randn(12, 10).double(), torch.randn(12, 8).double(), torch.randint(0, 3, (12,)))
    for _ in range(4)
]
epoch(model, torch.optim.SGD(model.parameters(), lr=0.5), batches)

weights = start
for audio, text, label in batches:
    leaves = {name: w.clone().requires_grad_() for name, w in weights.items()}

    def branch(name, x):
        hidden = (x @ leaves[name + ".first.weight"].T + leaves[name + ".first.bias"]).tanh()
        return hidden @ leaves[name + ".second.weight"].T + leaves[name + ".second.bias"]

    mixed = branch("audio", audio) + branch("text", text)
    scores = mixed @ leaves["head.weight"].T + leaves["head.bias"]
    (-scores.log_softmax(dim=1)[torch.arange(12), label]).mean().backward()
    rate = {name: 0.05 if name.startswith("text") else 0.5 for name in leaves}
    weights = {name: (leaf - rate[name] * leaf.grad).detach() for name, leaf in leaves.items()}
SILENTLY_WRONG = not all(torch.allclose(p, weights[name]) for name, p in model.named_parameters())
