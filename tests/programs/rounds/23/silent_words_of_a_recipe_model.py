import torch
from torch import nn


class RecipeModel(nn.Module):
    """Guesses the next ingredient; one table of ingredients serves at both ends."""

    def __init__(self, words, width):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.mix = nn.Linear(width, width)
        self.out = nn.Linear(width, words, bias=False)
        self.tie_weights()

    def tie_weights(self):
        self.out.weight = self.embed.weight

    def forward(self, words):
        return self.out(torch.tanh(self.mix(self.embed(words))))


def load_checkpoint_in_model(model, checkpoint):
    """Puts the stored tensors into a model that was made without memory of its own."""
    for name, value in checkpoint.items():
        owner, _, leaf = name.rpartition(".")
        module = model.get_submodule(owner)
        module._parameters[leaf] = nn.Parameter(value.clone())
    return model


def fine_tune(model, words, following, steps, rate):
    optimizer = torch.optim.SGD(model.parameters(), lr=rate)
    for _ in range(steps):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(words), following).backward()
        optimizer.step()


torch.manual_seed(17)
stored = RecipeModel(words=9, width=4).double().state_dict()
with torch.device("meta"):
    empty = RecipeModel(words=9, width=4)
model = load_checkpoint_in_model(empty, stored)
words = torch.randint(0, 9, (50,))
following = (words + 1) % 9
fine_tune(model, words, following, steps=30, rate=0.5)
scores = model(words).detach()
print("right guesses", float((scores.argmax(dim=1) == following).double().mean()))

table, w, b = stored["embed.weight"], stored["mix.weight"], stored["mix.bias"]
for _ in range(30):
    table, w, b = [t.detach().requires_grad_() for t in (table, w, b)]
    logp = torch.log_softmax(torch.tanh(table[words] @ w.T + b) @ table.T, dim=1)
    slopes = torch.autograd.grad(-logp[torch.arange(50), following].mean(), (table, w, b))
    table, w, b = [t - 0.5 * s for t, s in zip((table, w, b), slopes)]
expected = torch.tanh(table[words] @ w.T + b) @ table.T
SILENTLY_WRONG = not torch.allclose(scores, expected, atol=1e-8)
