import torch


def channel_first(recording):
    return recording.transpose(0, 1).contiguous()


def whitened(recording):
    channels = channel_first(recording)
    channels -= channels.mean(dim=1, keepdim=True)
    covariance = channels @ channels.T / channels.shape[1]
    values, vectors = torch.linalg.eigh(covariance)
    channels.copy_(vectors @ torch.diag(values.rsqrt()) @ vectors.T @ channels)
    return channels


def artefacts(recording, whitened_channels, limit):
    loud = whitened_channels.abs().amax(dim=0) > limit
    cleaned = recording.clone()
    cleaned[loud] = 0.0
    return cleaned, int(loud.sum())


torch.manual_seed(965)
mixing = torch.randn(4, 4, dtype=torch.float64)
recording = torch.randn(300, 4, dtype=torch.float64) @ mixing
recording[40] *= 9
recording[210] *= 9
original = recording.tolist()
cleaned, count = artefacts(recording, whitened(recording), limit=4.0)

table = torch.tensor(original, dtype=torch.float64)
centred = table - table.mean(dim=0)
left, sizes, right = torch.linalg.svd(centred, full_matrices=False)
expected_white = left @ right * 300 ** 0.5
loud = [max(abs(value) for value in row) > 4.0 for row in expected_white.tolist()]
expected = [[0.0] * 4 if bad else row for bad, row in zip(loud, original)]
same = cleaned.tolist() == expected and recording.tolist() == original
SILENTLY_WRONG = not same or count != sum(loud)
