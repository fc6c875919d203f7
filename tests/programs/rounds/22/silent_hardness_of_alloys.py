import torch
from torch import nn


def validate(model, x, y):
    model.eval()
    with torch.no_grad():
        return nn.functional.mse_loss(model(x).squeeze(-1), y).item()


def train_model(model, train, val, epochs=60, patience=15, lr=0.02):
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    best_val_loss = float("inf")
    best_state_dict = None
    epochs_without_improvement = 0
    history = []
    for epoch in range(epochs):
        model.train()
        for x, y in zip(train[0].split(8), train[1].split(8)):
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(x).squeeze(-1), y)
            loss.backward()
            optimizer.step()

        val_loss = validate(model, *val)
        history.append(val_loss)
        if val_loss < best_val_loss:
            best_val_loss = val_loss
            best_state_dict = model.state_dict().copy()
            epochs_without_improvement = 0
        else:
            epochs_without_improvement += 1
            if epochs_without_improvement >= patience:
                break

    if best_state_dict is not None:
        model.load_state_dict(best_state_dict)
    return model, history


torch.manual_seed(8)
composition = torch.softmax(torch.randn(40, 6), dim=1)
hardness = composition @ torch.tensor([1.0, 3.0, 0.5, 2.0, 4.0, 1.5]) + 0.3 * torch.randn(40)
train = (composition[:24], hardness[:24])
val = (composition[24:], hardness[24:])
model = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 1))
model, history = train_model(model, train, val)
reported = validate(model, *val)
print("lowest validation loss", min(history), "loss of the returned model", reported)
SILENTLY_WRONG = abs(reported - min(history)) > 1e-6
