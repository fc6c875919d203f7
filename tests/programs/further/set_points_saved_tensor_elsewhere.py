import torch

torch.manual_seed(0)
signal = torch.randn(4, 6, requires_grad=True)
window = torch.hamming_window(6)

framed = signal * window
window.set_(torch.hann_window(6))
second = framed.pow(2).sum() + window.sum()
second.backward()
