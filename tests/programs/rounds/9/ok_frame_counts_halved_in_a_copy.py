import torch
import torch.nn as nn


class BirdSongEncoder(nn.Module):
    def __init__(self, bins, size):
        super().__init__()
        sizes = ((bins, size), (size, size))
        self.convs = nn.ModuleList(nn.Conv1d(*pair, 2, stride=2) for pair in sizes)

    def forward(self, songs, frames):
        reduced = frames.clone()
        for conv in self.convs:
            songs = conv(songs).relu_()
            reduced >>= 1
            padding = torch.arange(songs.shape[2]) >= reduced[:, None]
            songs = songs.masked_fill_(padding[:, None], 0.0)
        return songs.sum(dim=2).div_(reduced[:, None]), reduced


@torch.no_grad()
def describe(encoder, batches, hop):
    vectors, seconds = [], 0.0
    for batch in batches:
        pooled, reduced = encoder(batch["songs"], batch["frames"])
        vectors.append(pooled)
        seconds += hop * batch["frames"].sum().item()
    return torch.cat(vectors), seconds


torch.manual_seed(969)
frames = [[48, 31, 22], [40, 40, 13]]
batches = [{"songs": torch.randn(3, 6, max(f)), "frames": torch.tensor(f)} for f in frames]
encoder = BirdSongEncoder(6, 5)
vectors, seconds = describe(encoder, batches, hop=0.02)

expected = []
with torch.no_grad():
    for batch, counts in zip(batches, frames):
        for song, count in zip(batch["songs"], counts):
            hidden = song[None, :, :count]
            for conv in encoder.convs:
                hidden = torch.relu(conv(hidden))
            expected.append(hidden[0].mean(dim=1))
same = torch.allclose(vectors, torch.stack(expected), atol=1e-5)
SILENTLY_WRONG = not same or abs(seconds - 0.02 * sum(map(sum, frames))) > 1e-6
