import torch
import torch.nn as nn

torch.manual_seed(8)
gamma = 0.9
q_net, target_net = nn.Linear(3, 4), nn.Linear(3, 4)
optimizer = torch.optim.SGD(q_net.parameters(), lr=0.1)

transitions = []
for step in range(20):
    done = 1 if step % 5 == 4 else 0
    transitions.append((torch.randn(3), step % 4, float(step % 3), torch.randn(3), done))

states, actions, rewards, next_states, dones = zip(*transitions[2:14])
states, next_states = torch.stack(states), torch.stack(next_states)
actions, rewards, dones = torch.tensor(actions), torch.tensor(rewards), torch.tensor(dones)

with torch.no_grad():
    next_values = target_net(next_states).max(dim=1).values
    next_values[dones] = 0.0
    targets = rewards + gamma * next_values
predicted = q_net(states).gather(1, actions.unsqueeze(1)).squeeze(1)
loss = nn.functional.smooth_l1_loss(predicted, targets)
optimizer.zero_grad()
loss.backward()
optimizer.step()

with torch.no_grad():
    expected = rewards + gamma * target_net(next_states).max(dim=1).values * (1 - dones)
SILENTLY_WRONG = not torch.allclose(targets, expected)
