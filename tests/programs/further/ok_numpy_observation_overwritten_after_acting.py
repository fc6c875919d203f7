import numpy as np
import torch
import torch.nn as nn

torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 2))
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
array = np.zeros(3, dtype=np.float32)
storage, actions = torch.zeros(4, 3), torch.zeros(4, dtype=torch.long)
for episode in range(2):
    for t in range(4):
        obs = torch.from_numpy(array)
        with torch.no_grad():
            action = torch.distributions.Categorical(logits=policy(obs)).sample()
        storage[t], actions[t] = obs, action
        array += np.float32(0.1) * (1 if action else -1)
    logp = policy(storage).log_softmax(-1).gather(1, actions[:, None])
    loss = -(logp * storage.sum(1, keepdim=True)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
