import torch
import torch.nn as nn

PAD = 0


class BagEncoder(nn.Module):
    def __init__(self, vocab_size, dim, num_classes):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, dim, padding_idx=PAD)
        self.out = nn.Linear(dim, num_classes)
        self.reset_parameters()

    def reset_parameters(self):
        nn.init.normal_(self.embed.weight, std=0.5)
        nn.init.xavier_uniform_(self.out.weight)
        nn.init.zeros_(self.out.bias)

    def encode(self, tokens):
        lengths = (tokens != PAD).sum(1, keepdim=True)
        return self.embed(tokens).sum(1) / lengths

    def forward(self, tokens):
        return self.out(self.encode(tokens))


def collate(sentences):
    longest = max(len(s) for s in sentences)
    return torch.tensor([s + [PAD] * (longest - len(s)) for s in sentences])


torch.manual_seed(0)
sentences = [[4, 8, 2], [5, 1, 7, 9, 3, 6], [2, 2]]
labels = torch.tensor([0, 1, 0])
model = BagEncoder(12, 6, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(5):
    loss = nn.functional.cross_entropy(model(collate(sentences)), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

with torch.no_grad():
    vectors = model.encode(collate(sentences))
    expected = torch.stack([model.embed.weight[s].mean(0) for s in sentences])

SILENTLY_WRONG = not torch.allclose(vectors, expected, atol=1e-5)
