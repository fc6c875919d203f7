import torch
from torch import nn


class QuizBot(nn.Module):
    def __init__(self, hints, answers):
        super().__init__()
        self.scores = nn.Linear(hints, answers)

    def forward(self, hint):
        return self.scores(hint).log_softmax(dim=-1)


def group_advantage(reward):
    return (reward - reward.mean(dim=1, keepdim=True)) / (reward.std(dim=1, keepdim=True) + 1e-4)


def update(bot, optimizer, hint, answer, reward):
    logp = bot(hint).gather(1, answer)
    advantage = group_advantage(reward)
    loss = -((logp - logp.detach()).exp() * advantage).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


torch.manual_seed(39)
torch.set_default_dtype(torch.float64)
bot = QuizBot(5, 4)
optimizer = torch.optim.SGD(bot.parameters(), lr=0.5)
weight, bias = bot.scores.weight.detach().clone(), bot.scores.bias.detach().clone()
rounds = []
for _ in range(6):
    hint = torch.randn(10, 5)
    answer = torch.multinomial(bot(hint).exp().detach(), 6, replacement=True)
    reward = (answer == hint[:, :4].argmax(dim=1, keepdim=True)).double()
    loss = update(bot, optimizer, hint, answer, reward)
    rounds.append((hint, answer, reward))
print("loss", loss)

for hint, answer, reward in rounds:
    share = (hint @ weight.T + bias).softmax(dim=1)
    pull = torch.zeros(10, 4)
    advantage = group_advantage(reward)
    for j in range(6):
        chosen = nn.functional.one_hot(answer[:, j], 4)
        pull = pull + advantage[:, j : j + 1] * (chosen - share) / 60
    weight, bias = weight + 0.5 * pull.T @ hint, bias + 0.5 * pull.sum(dim=0)
SILENTLY_WRONG = not torch.allclose(bot.scores.weight, weight, atol=1e-8)
