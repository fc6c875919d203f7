import torch


def frames_to_calls(calls, centres, spacing):
    """For each frame the number of the call that it lies in, or -1.

    A call shorter than the spacing of the frames would fall between them, so it gets one frame.
    """
    start, length = calls[:, 0], calls[:, 1]
    calls[:, 1] = torch.where(length < spacing, spacing, length)
    end = start + calls[:, 1]
    inside = (centres[:, None] >= start) & (centres[:, None] < end)
    return torch.where(inside.any(dim=1), inside.float().argmax(dim=1), -1)


def score(guesses, calls, centres, spacing):
    """Mean errors of start and length over the frames that lie in a call."""
    owner = frames_to_calls(calls, centres, spacing)
    found = owner >= 0
    miss = (guesses[found] - calls[owner[found]]).abs()
    return miss.mean(dim=0)


spacing = 0.05
centres = torch.arange(400) * spacing + spacing / 2
torch.manual_seed(20)
starts = torch.arange(1.0, 19.0, 1.5) + 0.2 * torch.rand(12)
lengths = torch.where(torch.arange(12) % 3 == 0, 0.3, 0.02)
calls = torch.stack([starts, lengths], dim=1)

nearest = (centres[:, None] - (starts + lengths / 2)).abs().argmin(dim=1)
guesses = calls[nearest] + 0.001 * torch.randn(400, 2)
miss = score(guesses, calls, centres, spacing)
print("miss of start and length", miss.tolist(), "mean length", calls[:, 1].mean().item())

sums, n = [0.0, 0.0], 0
for centre, guess in zip(centres.tolist(), guesses.tolist()):
    for s, d in zip(starts.tolist(), lengths.tolist()):
        if s <= centre < s + max(d, spacing):
            sums = [sums[0] + abs(guess[0] - s), sums[1] + abs(guess[1] - d)]
            n += 1
SILENTLY_WRONG = abs(miss[1].item() - sums[1] / n) > 1e-3
