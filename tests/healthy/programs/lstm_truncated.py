import math

import torch
import torch.nn.functional as F
from torch import nn


class LanguageModel(nn.Module):
    def __init__(self, words, width=16, layers=2):
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.dropout = nn.Dropout(0.2)
        self.lstm = nn.LSTM(width, width, layers, dropout=0.2)
        self.decoder = nn.Linear(width, words)
        self.decoder.weight = self.embedding.weight
        nn.init.uniform_(self.embedding.weight, -0.1, 0.1)
        nn.init.zeros_(self.decoder.bias)

    def forward(self, tokens, state):
        x = self.dropout(self.embedding(tokens))
        x, state = self.lstm(x, state)
        return self.decoder(self.dropout(x)), state

    def begin(self, batch):
        weight = next(self.parameters())
        return weight.new_zeros(2, batch, 16), weight.new_zeros(2, batch, 16)


corpus = torch.randint(20, (25, 3))
model = LanguageModel(20)
rate, steps = 1.0, 8
losses, best = [], None
# %%
model.train()
state = model.begin(3)
for start in range(0, 24, steps):
    tokens, targets = corpus[start : start + steps], corpus[start + 1 : start + 1 + steps]
    model.zero_grad()
    state = tuple(part.detach() for part in state)
    logits, state = model(tokens, state)
    loss = F.cross_entropy(logits.view(-1, 20), targets.reshape(-1))
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 0.25)
    for weight in model.parameters():
        weight.data.add_(weight.grad, alpha=-rate)
    losses.append(loss.item())
    if best is None or losses[-1] < best[0]:
        best = (losses[-1], {name: value.clone() for name, value in model.state_dict().items()})
    rate /= 2
# %%
model.load_state_dict(best[1])
model.eval()
with torch.no_grad():
    state = model.begin(1)
    token = torch.randint(20, (1, 1))
    sampled = []
    for _ in range(5):
        logits, state = model(token, state)
        weights = logits.squeeze().div(0.8).exp()
        drawn = torch.multinomial(weights, 1)[0]
        token.fill_(drawn)
        sampled.append(drawn.item())
perplexity = math.exp(losses[-1])
