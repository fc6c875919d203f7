import torch


def overlap(call, calls):
    inner = torch.minimum(call[1], calls[:, 1]) - torch.maximum(call[0], calls[:, 0])
    inner.clamp_(min=0)
    return inner / (calls[:, 1] - calls[:, 0] + call[1] - call[0] - inner)


def pick_calls(calls, confidence, least):
    lowered = confidence.clone()
    picked = []
    while lowered.max() >= least:
        best = int(lowered.argmax())
        picked.append((best, confidence[best].item()))
        lowered.mul_(1 - overlap(calls[best], calls))
        lowered[best] = -1.0
    return picked


def pick_in_plain_python(calls, confidence, least):
    lowered, picked = list(confidence), []
    while max(lowered) >= least:
        best = lowered.index(max(lowered))
        picked.append((best, confidence[best]))
        begin, end = calls[best]
        for other, (start, stop) in enumerate(calls):
            inner = max(0.0, min(end, stop) - max(begin, start))
            lowered[other] *= 1 - inner / (stop - start + end - begin - inner)
        lowered[best] = -1.0
    return picked


torch.manual_seed(964)
SILENTLY_WRONG = False
for night in range(5):
    begin = torch.rand(25, dtype=torch.float64) * 60
    calls = torch.stack([begin, begin + 1 + 6 * torch.rand(25, dtype=torch.float64)], dim=1)
    confidence = torch.rand(25, dtype=torch.float64)
    picked = pick_calls(calls, confidence, least=0.3)
    expected = pick_in_plain_python(calls.tolist(), confidence.tolist(), least=0.3)
    SILENTLY_WRONG |= picked != expected
