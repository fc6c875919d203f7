import copy

import torch
import torch.nn.functional as F
from torch import nn


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(30, 16, padding_idx=0)
        self.register_buffer("positions", torch.zeros(12, 16))
        place = torch.arange(12).unsqueeze(1)
        scale = torch.exp(torch.arange(0, 16, 2) * -0.6)
        self.positions[:, 0::2] = torch.sin(place * scale)
        self.positions[:, 1::2] = torch.cos(place * scale)
        layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.1, batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(16, 3)

    def forward(self, tokens):
        padding = tokens.eq(0)
        x = self.embedding(tokens) * 4
        x += self.positions[: tokens.shape[1]]
        x = self.encoder(x, src_key_padding_mask=padding)
        x = x.masked_fill(padding.unsqueeze(-1), 0)
        lengths = (~padding).sum(1, keepdim=True)
        return self.head(x.sum(1).div_(lengths))


model = Classifier()
average = copy.deepcopy(model).requires_grad_(False)
optimizer = torch.optim.AdamW(
    [
        {"params": [p for p in model.parameters() if p.ndim > 1], "weight_decay": 0.01},
        {"params": [p for p in model.parameters() if p.ndim < 2], "weight_decay": 0.0},
    ],
    lr=1e-3,
)
scaler = torch.amp.GradScaler("cpu", init_scale=64.0)
tokens, labels = torch.randint(1, 30, (8, 12)), torch.randint(3, (8,))
tokens[::2, 9:] = 0
losses = []
# %%
for _ in range(3):
    running = torch.zeros(())
    for part in range(2):
        rows = slice(4 * part, 4 * part + 4)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = F.cross_entropy(model(tokens[rows]).float(), labels[rows]) / 2
        scaler.scale(loss).backward()
        running += loss.detach()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(model.parameters(), 1.0, foreach=True)
    scaler.step(optimizer)
    scaler.update()
    optimizer.zero_grad()
    with torch.no_grad():
        for kept, new in zip(average.parameters(), model.parameters(), strict=True):
            kept.lerp_(new, 0.1)
    losses.append(running.item())
# %%
average.eval()
with torch.no_grad():
    confusion = torch.zeros(3, 3, dtype=torch.long)
    confusion.index_put_((labels, average(tokens).argmax(1)), torch.ones(8, dtype=torch.long), accumulate=True)
