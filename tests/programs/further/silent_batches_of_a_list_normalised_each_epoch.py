import torch
import torch.nn as nn

torch.manual_seed(0)
batches = [(torch.rand(4, 6), torch.randint(0, 2, (4,))) for _ in range(2)]
honest = (batches[1][0].clone() - 0.5) / 0.25
net = nn.Linear(6, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(3):
    for images, labels in batches:
        images.sub_(0.5).div_(0.25)
        loss = nn.functional.cross_entropy(net(images), labels)
        opt.zero_grad()
        loss.backward()
        opt.step()
SILENTLY_WRONG = not torch.allclose(images, honest)
