import torch
from torch import nn


class LogModel(nn.Module):
    """Predicts the next word of a harbour log from the two before it."""

    tied_keys = ("head.weight",)

    def __init__(self, config):
        super().__init__()
        self.config = config
        self.words = nn.Embedding(config["vocab"], config["width"])
        self.mix = nn.Linear(2 * config["width"], config["width"])
        self.head = nn.Linear(config["width"], config["vocab"], bias=False)
        if config["tie"]:
            self.head.weight = self.words.weight

    def forward(self, pairs):
        h = torch.tanh(self.mix(self.words(pairs).flatten(1)))
        return self.head(h)


def tie_weights(model):
    """Loading may have put new tensors in place of the tied ones."""
    for name in model.tied_keys:
        owner, attr = name.rsplit(".", 1)
        setattr(model.get_submodule(owner), attr, model.words.weight)


def from_checkpoint(config, state):
    model = LogModel(config)
    model.load_state_dict(state)
    tie_weights(model)
    return model.eval()


def perplexity(model, pairs, following):
    with torch.no_grad():
        return nn.functional.cross_entropy(model(pairs), following).exp()


torch.manual_seed(6)
config = {"vocab": 30, "width": 8, "tie": False}
state = {
    "words.weight": torch.randn(30, 8),
    "mix.weight": 0.4 * torch.randn(8, 16),
    "mix.bias": torch.zeros(8),
    "head.weight": torch.randn(30, 8),
}
pairs = torch.randint(0, 30, (64, 2))
h = torch.tanh(state["words.weight"][pairs].flatten(1) @ state["mix.weight"].T)
scores = h @ state["head.weight"].T
following = scores.argmax(dim=1)
model = from_checkpoint(config, state)
found = perplexity(model, pairs, following)
print("perplexity", found.item())

expected = (scores.logsumexp(1) - scores.max(1).values).mean().exp()
SILENTLY_WRONG = abs(found.item() - expected.item()) > 1e-3
