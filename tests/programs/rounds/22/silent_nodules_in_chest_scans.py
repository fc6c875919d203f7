import torch
from torch import nn


class Loss(nn.Module):
    def __init__(self):
        super().__init__()
        self.classify_loss = nn.BCELoss()
        self.regress_loss = nn.SmoothL1Loss()

    def forward(self, output, labels):
        output = output.view(-1, 5)
        labels = labels.view(-1, 5)
        pos = labels[:, 0] > 0.5
        neg = labels[:, 0] < -0.5
        pos_prob = torch.sigmoid(output[pos, 0])
        neg_prob = torch.sigmoid(output[neg, 0])
        regress_losses = [self.regress_loss(output[pos, k], labels[pos, k]) for k in range(1, 5)]
        classify_loss = 0.5 * self.classify_loss(pos_prob, torch.ones_like(pos_prob)) \
            + 0.5 * self.classify_loss(neg_prob, torch.zeros_like(neg_prob))
        loss = classify_loss
        for regress_loss in regress_losses:
            loss += regress_loss
        return [loss, classify_loss] + regress_losses


def train(net, loss, batches, lr=0.05):
    optimizer = torch.optim.SGD(net.parameters(), lr=lr)
    metrics = []
    for data, target in batches:
        loss_output = loss(net(data), target)
        optimizer.zero_grad()
        loss_output[0].backward()
        optimizer.step()
        metrics.append(torch.stack([part.detach() for part in loss_output]))
    return torch.stack(metrics).mean(dim=0)


torch.manual_seed(12)
net = nn.Linear(9, 5)
start = {k: v.clone() for k, v in net.state_dict().items()}
batches = []
for _ in range(6):
    target = torch.randn(10, 5)
    target[:, 0] = torch.tensor([1.0, -1.0]).repeat(5)
    batches.append((torch.randn(10, 9), target))
mean = train(net, Loss(), batches)
print("loss %.4f, classify loss %.4f" % (mean[0], mean[1]))

net.load_state_dict(start)
total = 0.0
for data, target in batches:
    out = net(data)
    score = nn.functional.binary_cross_entropy_with_logits(out[:, 0], (target[:, 0] > 0).float())
    places = sum(nn.functional.smooth_l1_loss(out[::2, k], target[::2, k]) for k in range(1, 5))
    for p, g in zip(list(net.parameters()), torch.autograd.grad(score + places, list(net.parameters()))):
        p.data -= 0.05 * g
    total += score.item() / len(batches)
SILENTLY_WRONG = abs(mean[1].item() - total) > 1e-4
