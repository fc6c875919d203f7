import torch
import torch.nn.functional as F
from asked.resnet import ResNet18

model = ResNet18(classes=10)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4, nesterov=True)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=3)
mean, std = torch.tensor([0.4, 0.5, 0.6]).view(3, 1, 1), torch.tensor(0.25)
images = torch.rand(4, 3, 32, 32)
images.sub_(mean).div_(std)
targets = torch.randint(10, (4,))
losses = []
# %%
model.train()
for _ in range(3):
    logits = model(images)
    loss = F.cross_entropy(logits, targets, label_smoothing=0.1)
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    scheduler.step()
    losses.append(loss.item())
# %%
model.eval()
with torch.no_grad():
    probabilities = model(images).softmax(1)
    correct = probabilities.argmax(1).eq_(targets).sum().item()
