import torch
import torch.nn as nn

torch.manual_seed(0)
batches = [{"image": torch.rand(4, 6) * 255, "label": torch.randint(0, 2, (4,))} for _ in range(2)]
honest = batches[1]["image"].clone() / 255
net = nn.Linear(6, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(3):
    for batch in batches:
        batch["image"] /= 255
        loss = nn.functional.cross_entropy(net(batch["image"]), batch["label"])
        opt.zero_grad()
        loss.backward()
        opt.step()
SILENTLY_WRONG = not torch.allclose(batch["image"], honest)
