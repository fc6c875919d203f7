import torch
from torch import nn
from torch.nn.functional import cross_entropy


class TinyLanguageModel(nn.Module):
    def __init__(self, vocabulary, dim, tied):
        super().__init__()
        self.read = nn.Embedding(vocabulary, dim)
        self.mix = nn.GRU(dim, dim, batch_first=True)
        self.write = nn.Linear(dim, vocabulary, bias=False)
        if tied:
            self.write.weight = self.read.weight

    def forward(self, tokens):
        return self.write(self.mix(self.read(tokens))[0])


torch.manual_seed(6)
tied = TinyLanguageModel(15, 8, tied=True)
loose = TinyLanguageModel(15, 8, tied=False)
state = {k: v.clone() for k, v in tied.state_dict().items()}
loose.load_state_dict(state)
tokens = torch.randint(0, 15, (4, 13))

optimizer = torch.optim.AdamW(tied.parameters(), lr=1e-2)
table = loose.read.weight.detach().clone()
moment, square = torch.zeros_like(table), torch.zeros_like(table)
rest = torch.optim.AdamW(loose.mix.parameters(), lr=1e-2)
for step in range(1, 9):
    optimizer.zero_grad()
    cross_entropy(tied(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten()).backward()
    optimizer.step()

    loose.zero_grad()
    cross_entropy(loose(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten()).backward()
    g = loose.read.weight.grad + loose.write.weight.grad
    moment = 0.9 * moment + 0.1 * g
    square = 0.999 * square + 0.001 * g * g
    update = (moment / (1 - 0.9 ** step)) / ((square / (1 - 0.999 ** step)).sqrt() + 1e-8)
    table = table * (1 - 1e-2 * 1e-2) - 1e-2 * update
    rest.step()
    with torch.no_grad():
        loose.read.weight.copy_(table)
        loose.write.weight.copy_(table)
SILENTLY_WRONG = not torch.allclose(tied(tokens), loose(tokens), atol=1e-4)
