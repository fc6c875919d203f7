import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class SpeechModel(nn.Module):
    def __init__(self, width=4):
        super().__init__()
        self.extractor = nn.Conv1d(1, width, 4, stride=2)
        self.mask_emb = nn.Parameter(torch.rand(width))
        self.layers = nn.ModuleList(nn.TransformerEncoderLayer(width, 2, 8, dropout=0.0) for _ in range(2))

    def apply_mask(self, x, mask):
        x[mask] = self.mask_emb
        return x

    def forward(self, wave, mask):
        features = self.extractor(wave).permute(2, 0, 1).contiguous()
        penalty = features.pow(2).mean()
        x = self.apply_mask(features, mask)
        for layer in self.layers:
            x = checkpoint(layer, x, use_reentrant=False)
        return x, penalty


torch.manual_seed(0)
speech = SpeechModel()
mask = torch.zeros(7, 2, dtype=torch.bool)
mask[2:4, 0] = mask[5, 1] = True
x, penalty = speech(torch.randn(2, 1, 16), mask)
loss = x[mask].pow(2).mean() + 0.5 * penalty
loss.backward()
