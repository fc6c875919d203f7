import torch

pos = torch.tensor([0.0, 1.0])
vel = torch.tensor([1.0, 0.5])
bodies, drawn, path = [pos, vel], [pos], []
for step in range(5):
    for q in drawn:
        path.append(q.clone())
    pos += 0.1 * vel
length = torch.stack(path).diff(dim=0).norm(dim=1).sum()
energy = sum(b.square().sum() for b in bodies)
