import torch
from torch import nn


def open_forget_gates(lstm, value):
    for name, bias in lstm.named_parameters():
        if name.startswith("bias_ih"):
            with torch.no_grad():
                bias.zero_()
                bias.chunk(4)[1].fill_(value)
        elif name.startswith("bias_hh"):
            nn.init.zeros_(bias)


torch.manual_seed(4)
size = 6
lstm = nn.LSTM(3, size, num_layers=2, batch_first=True)
open_forget_gates(lstm, 1.0)
x = torch.randn(2, 11, 3)
output, _ = lstm(x)

sequence = x
for layer in range(2):
    w_x = getattr(lstm, f"weight_ih_l{layer}")
    w_h = getattr(lstm, f"weight_hh_l{layer}")
    h = c = torch.zeros(2, size)
    outputs = []
    for t in range(sequence.shape[1]):
        i, f, g, o = (sequence[:, t] @ w_x.t() + h @ w_h.t()).split(size, dim=1)
        c = torch.sigmoid(f + 1.0) * c + torch.sigmoid(i) * torch.tanh(g)
        h = torch.sigmoid(o) * torch.tanh(c)
        outputs.append(h)
    sequence = torch.stack(outputs, dim=1)
SILENTLY_WRONG = not torch.allclose(output, sequence, atol=1e-5)
