import torch
import torch.nn as nn


class ChordModel(nn.Module):
    def __init__(self, known, room, dim):
        super().__init__()
        self.known = known
        self.symbols = nn.Embedding(room, dim)
        with torch.no_grad():
            self.symbols.weight[known:] = 0
        self.read = nn.GRU(dim, dim, batch_first=True)

    def add_symbols(self, count):
        new = torch.arange(self.known, self.known + count)
        scale = self.symbols.weight[:self.known].std().item()
        nn.init.normal_(self.symbols.weight.data[new], std=scale)
        self.known += count
        return new

    def forward(self, chords):
        return self.read(self.symbols(chords))[0][:, -1]


torch.manual_seed(619)
model = ChordModel(10, 16, 8)
torch.manual_seed(620)
new = model.add_symbols(4)
songs = torch.tensor([[1, 10, 3], [1, 11, 3], [1, 12, 3], [1, 13, 3]])
with torch.no_grad():
    summary = model(songs)

    torch.manual_seed(620)
    table = model.symbols.weight.clone()
    table[10:14] = torch.empty(4, 8).normal_(std=table[:10].std().item())
    expected = model.read(table[songs])[0][:, -1]
SILENTLY_WRONG = not torch.allclose(summary, expected, atol=1e-6)
