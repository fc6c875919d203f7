import torch
import torch.nn as nn

PAD = 0


class SentenceClassifier(nn.Module):
    def __init__(self, vocab_size, dim):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, dim, padding_idx=PAD)
        self.out = nn.Linear(dim, 2)
        self.reset_parameters()

    def reset_parameters(self):
        nn.init.xavier_normal_(self.embed.weight)
        with torch.no_grad():
            self.embed.weight[PAD].zero_()

    def forward(self, tokens):
        count = (tokens != PAD).sum(1, keepdim=True)
        return self.out(self.embed(tokens).sum(1) / count)


torch.manual_seed(0)
sentences = [[3, 5], [1, 4, 2, 6], [7]]
labels = torch.tensor([1, 0, 1])
tokens = torch.zeros(3, 4, dtype=torch.long)
for row, sentence in zip(tokens, sentences):
    row[: len(sentence)] = torch.tensor(sentence)

model = SentenceClassifier(8, 5)
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
for _ in range(6):
    loss = nn.functional.cross_entropy(model(tokens), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

with torch.no_grad():
    logits = model(tokens)
    expected = torch.stack([model.out(model.embed.weight[s].mean(0)) for s in sentences])
SILENTLY_WRONG = not torch.allclose(logits, expected, atol=1e-5)
