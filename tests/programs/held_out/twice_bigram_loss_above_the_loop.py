import torch
import torch.nn.functional as F

names = ["emma", "ava"]
letters = {letter: number for number, letter in enumerate(sorted({*"".join(names), "."}))}
pairs = [(letters[a], letters[b]) for name in names for a, b in zip("." + name, name + ".")]
xs, ys = torch.tensor(pairs).T

W = torch.randn((len(letters), len(letters)), generator=torch.Generator().manual_seed(2), requires_grad=True)
xenc = F.one_hot(xs, num_classes=len(letters)).float()
logits = xenc @ W
counts = logits.exp()
prob = counts / counts.sum(1, keepdim=True)
loss = -prob[torch.arange(len(ys)), ys].log().mean()
for k in range(3):
    W.grad = None
    loss.backward()
    W.data += -0.5 * W.grad
