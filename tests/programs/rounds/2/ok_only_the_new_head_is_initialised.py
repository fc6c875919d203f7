import torch
from torch import nn


class Ranker(nn.Module):
    def __init__(self, num_items, dim, hidden):
        super().__init__()
        self.items = nn.Embedding(num_items, dim)
        self.user = nn.Linear(hidden, dim)
        self.apply(self._init_weights)

    @staticmethod
    def _init_weights(module):
        if isinstance(module, (nn.Linear, nn.Embedding)):
            nn.init.normal_(module.weight, std=0.02)
        if isinstance(module, nn.Linear):
            nn.init.zeros_(module.bias)

    @torch.no_grad()
    def load_vectors(self, vectors):
        self.items.weight.copy_(vectors)

    def replace_head(self, hidden):
        self.user = nn.Linear(hidden, self.items.embedding_dim)
        self.user.apply(self._init_weights)

    def forward(self, user):
        return self.user(user) @ self.items.weight.t()


torch.manual_seed(0)
vectors = torch.randn(12, 8)
ranker = Ranker(12, 8, hidden=5)
ranker.load_vectors(vectors)
ranker.replace_head(hidden=7)

user = torch.randn(3, 7)
scores = ranker(user)
expected = (user @ ranker.user.weight.t()) @ vectors.t()
SILENTLY_WRONG = not torch.allclose(scores, expected, atol=1e-6)
