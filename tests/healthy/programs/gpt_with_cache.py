import torch
import torch.nn.functional as F
from torch import nn

WORDS, WIDTH, HEADS, LONGEST = 20, 16, 2, 16


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.register_buffer("causal", torch.tril(torch.ones(LONGEST, LONGEST)).bool())

    def forward(self, x, cache=None):
        rows, new, _ = x.shape
        q, k, v = self.qkv(x).view(rows, new, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4).unbind(0)
        start = 0
        if cache is not None:
            start = cache["length"]
            cache["keys"][:, :, start : start + new] = k
            cache["values"][:, :, start : start + new] = v
            cache["length"] += new
            k, v = cache["keys"][:, :, : start + new], cache["values"][:, :, : start + new]
        scores = q @ k.transpose(-1, -2) / (WIDTH // HEADS) ** 0.5
        scores.masked_fill_(~self.causal[start : start + new, : start + new], float("-inf"))
        mixed = F.dropout(scores.softmax(-1), 0.1, self.training) @ v
        return self.out(mixed.transpose(1, 2).reshape(rows, new, WIDTH))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention, self.norm1, self.norm2 = Attention(), nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 2 * WIDTH), nn.GELU(), nn.Linear(2 * WIDTH, WIDTH))

    def forward(self, x, cache=None):
        x = x + self.attention(self.norm1(x), cache)
        x = x + self.mlp(self.norm2(x))
        return x


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(WORDS, WIDTH), nn.Embedding(LONGEST, WIDTH)
        self.blocks, self.norm = nn.ModuleList([Block(), Block()]), nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, WORDS, bias=False)
        self.head.weight = self.words.weight

    def forward(self, ids, targets=None, caches=None):
        start = caches[0]["length"] if caches else 0
        x = self.words(ids)
        x += self.places(torch.arange(start, start + ids.shape[1]))
        for block, cache in zip(self.blocks, caches or [None, None], strict=True):
            x = block(x, cache)
        logits = self.head(self.norm(x))
        loss = None
        if targets is not None:
            loss = F.cross_entropy(logits.view(-1, WORDS), targets.reshape(-1), ignore_index=-100)
        return logits, loss


model = GPT()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, betas=(0.9, 0.95), fused=True)
text = torch.randint(WORDS, (200,))
losses = []
# %%
for step in range(3):
    for group in optimizer.param_groups:
        group["lr"] = 1e-3 * (step + 1)
    for _ in range(2):
        starts = torch.randint(len(text) - 13, (4,))
        ids = torch.stack([text[i : i + 12] for i in starts])
        targets = torch.stack([text[i + 1 : i + 13] for i in starts])
        targets[:, :2] = -100
        logits, loss = model(ids, targets)
        loss = loss / 2
        loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    losses.append(2 * loss.item())
# %%
model.eval()
ids = text[:3].unsqueeze(0)
with torch.no_grad():
    caches = [{name: torch.zeros(1, HEADS, LONGEST, WIDTH // HEADS) for name in ("keys", "values")} for _ in range(2)]
    for cache in caches:
        cache["length"] = 0
    logits, _ = model(ids, caches=caches)
    for _ in range(6):
        scores = logits[:, -1]
        scores /= 0.8
        scores[scores < scores.topk(5).values[:, -1:]] = -float("inf")
        following = torch.multinomial(scores.softmax(-1), 1)
        ids = torch.cat([ids, following], 1)
        logits, _ = model(following, caches=caches)
