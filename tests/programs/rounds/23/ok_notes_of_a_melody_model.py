import torch
from torch import nn


class MelodyModel(nn.Module):
    def __init__(self, notes, width):
        super().__init__()
        self.embed = nn.Embedding(notes, width)
        self.mix = nn.Linear(width, width)
        self.out = nn.Linear(width, notes, bias=False)
        self.tie_weights()

    def tie_weights(self):
        self.out.weight = self.embed.weight

    def forward(self, notes):
        return self.out(torch.tanh(self.mix(self.embed(notes))))


def from_checkpoint(checkpoint, notes, width):
    """Makes the model without memory, takes the stored tensors as they are and ties them anew."""
    with torch.device("meta"):
        model = MelodyModel(notes, width)
    model.load_state_dict({name: value.clone() for name, value in checkpoint.items()}, assign=True)
    model.tie_weights()
    return model


torch.manual_seed(46)
stored = MelodyModel(notes=7, width=3).double().state_dict()
model = from_checkpoint(stored, notes=7, width=3)
notes = torch.randint(0, 7, (40,))
following = (notes + 2) % 7
optimizer = torch.optim.SGD(model.parameters(), lr=0.4)
for _ in range(25):
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(notes), following).backward()
    optimizer.step()
scores = model(notes).detach()
print("tables", len(optimizer.param_groups[0]["params"]) - 2, "right", float((scores.argmax(1) == following).double().mean()))

table, w, b = stored["embed.weight"], stored["mix.weight"], stored["mix.bias"]
one_hot = torch.eye(7, dtype=torch.float64)[following]
for _ in range(25):
    e = table[notes]
    hidden = torch.tanh(e @ w.T + b)
    miss = (torch.softmax(hidden @ table.T, dim=1) - one_hot) / 40
    back = (miss @ table) * (1 - hidden ** 2)
    slope_e = torch.zeros_like(table).index_add(0, notes, back @ w)
    table, w, b = table - 0.4 * (slope_e + miss.T @ hidden), w - 0.4 * back.T @ e, b - 0.4 * back.sum(dim=0)
expected = torch.tanh(table[notes] @ w.T + b) @ table.T
SILENTLY_WRONG = not torch.allclose(scores, expected, atol=1e-9)
