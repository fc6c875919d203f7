import torch
from torch import nn


class RecipeReader(nn.Module):
    def __init__(self, signs, width):
        super().__init__()
        self.write = nn.Linear(width, signs, bias=False)
        self.read = nn.Embedding(signs, width, _weight=self.write.weight)
        self.mix = nn.Linear(width, width)

    def forward(self, line):
        return self.write(torch.tanh(self.mix(self.read(line)).mean(dim=1)))


def reader_from_archive(archive, signs, width):
    reader = RecipeReader(signs, width)
    missing = reader.load_state_dict(archive)
    print("loaded", missing)
    return reader.eval()


torch.manual_seed(16)
signs, width = 12, 6
archive = {
    "read.weight": torch.randn(signs, width),
    "write.weight": torch.randn(signs, width),
    "mix.weight": torch.randn(width, width) / 2,
    "mix.bias": torch.zeros(width),
}
reader = reader_from_archive(dict(sorted(archive.items())), signs, width)
lines = torch.randint(0, signs, (4, 5))
with torch.no_grad():
    scores = reader(lines)
print("next sign", scores.argmax(dim=1).tolist())

expected = []
for line in lines.tolist():
    seen = [archive["mix.weight"] @ archive["read.weight"][s] for s in line]
    expected.append(archive["write.weight"] @ torch.tanh(sum(seen) / len(seen) + archive["mix.bias"]))
SILENTLY_WRONG = not torch.allclose(scores, torch.stack(expected), atol=1e-5)
