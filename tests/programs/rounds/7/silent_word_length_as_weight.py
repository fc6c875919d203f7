import torch
import torch.nn.functional as F


class DocumentEncoder:
    def __init__(self, vectors, cap=1.0):
        self.vectors = vectors
        self.cap = cap

    def weights(self, tokens):
        length = self.vectors[tokens].norm(dim=1)
        return length / length.sum()

    def encode(self, tokens):
        rows = F.embedding(tokens, self.vectors, max_norm=self.cap)
        return self.weights(tokens) @ rows


torch.manual_seed(61)
scale = torch.rand(50, 1) * 3 + 0.2
vectors = F.normalize(torch.randn(50, 8), dim=1) * scale
documents = [torch.randint(0, 50, (n,)) for n in (7, 12, 5)]

expected = []
for tokens in documents:
    length = scale[tokens, 0]
    rows = vectors[tokens] * (1.0 / length).clamp(max=1.0)[:, None]
    expected.append((length / length.sum()) @ rows)

encoder = DocumentEncoder(vectors)
result = torch.stack([encoder.encode(tokens) for tokens in documents])
similarity = F.normalize(result, dim=1) @ F.normalize(result, dim=1).T
SILENTLY_WRONG = not torch.allclose(result, torch.stack(expected), atol=1e-4)
