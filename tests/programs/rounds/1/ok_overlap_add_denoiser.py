import torch


def analyse(wav, window, hop):
    frames = wav.unfold(-1, window.numel(), hop) * window
    spectrum = torch.fft.rfft(frames)
    floor = 0.05 * spectrum.abs().amax()
    spectrum[spectrum.abs() < floor] = 0
    return spectrum


def synthesise(spectrum, window, hop):
    frames = torch.fft.irfft(spectrum, n=window.numel())
    frames *= window
    length = hop * (frames.size(0) - 1) + window.numel()
    out = torch.zeros(length)
    weight = torch.zeros(length)
    for i, frame in enumerate(frames):
        start = i * hop
        out[start:start + window.numel()] += frame
        weight[start:start + window.numel()] += window ** 2
    out /= weight.clamp_(min=1e-3)
    return out


torch.manual_seed(0)
time = torch.arange(400) / 400
wav = torch.sin(2 * torch.pi * 50 * time) + 0.01 * torch.randn(400)
before = wav.tolist()
window = torch.hann_window(64)

cleaned = synthesise(analyse(wav, window, 16), window, 16)

pieces = torch.stack([wav[s:s + 64] * torch.hann_window(64) for s in range(0, 337, 16)])
bins = torch.fft.rfft(pieces)
bins = torch.where(bins.abs() < 0.05 * bins.abs().max(), torch.zeros_like(bins), bins)
pieces = torch.fft.irfft(bins, n=64) * torch.hann_window(64)
expected = []
for n in range(cleaned.numel()):
    covering = [i for i in range(len(pieces)) if 0 <= n - 16 * i < 64]
    top = sum(pieces[i, n - 16 * i].item() for i in covering)
    low = sum(torch.hann_window(64)[n - 16 * i].item() ** 2 for i in covering)
    expected.append(top / max(low, 1e-3))
SILENTLY_WRONG = wav.tolist() != before or not torch.allclose(cleaned, torch.tensor(expected), atol=1e-3)
