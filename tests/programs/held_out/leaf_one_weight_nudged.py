import torch


def init_params(size, std=1.0):
    return (torch.randn(size) * std).requires_grad_()


def linear1(xb):
    return xb @ weights + bias


def mnist_loss(predictions, targets):
    predictions = predictions.sigmoid()
    return torch.where(targets == 1, 1 - predictions, predictions).mean()


torch.manual_seed(0)
weights, bias = init_params((6, 1)), init_params(1)
train_x, train_y = torch.rand(8, 6), torch.randint(0, 2, (8, 1))
before = mnist_loss(linear1(train_x), train_y)
weights[0] *= 1.0001
after = mnist_loss(linear1(train_x), train_y)
after.backward()
slope = (after - before).item()
