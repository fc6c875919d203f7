import torch
import torch.nn as nn


class Cloud:
    def __init__(self, pos, edges, kind):
        self.pos, self.edges, self.kind = pos, edges, kind


class Jitter:
    def __init__(self, reach, seed):
        self.reach = reach
        self.source = torch.Generator().manual_seed(seed)

    def __call__(self, cloud):
        cloud.pos += self.reach * torch.randn(cloud.pos.shape, generator=self.source)
        return cloud


class EdgeNet(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.message, self.head = nn.Linear(3, width), nn.Linear(width, 2)

    def forward(self, cloud):
        begin, end = cloud.edges
        sent = torch.relu(self.message(cloud.pos[end] - cloud.pos[begin]))
        gathered = torch.zeros(len(cloud.pos), sent.shape[1]).index_add(0, begin, sent)
        return self.head(gathered.mean(dim=0))


def enlarge(examples, jitter, copies):
    dataset = []
    for example in examples:
        for _ in range(copies):
            dataset.append(jitter(example))
    return dataset


torch.manual_seed(151)
examples = [Cloud(torch.rand(6, 3), torch.randint(0, 6, (2, 14)), k % 2) for k in range(4)]
originals = [example.pos.clone() for example in examples]
net = EdgeNet(width=5)
dataset = enlarge(examples, Jitter(reach=0.3, seed=8), copies=3)
with torch.no_grad():
    scores = torch.stack([net(cloud) for cloud in dataset])

source, expected = torch.Generator().manual_seed(8), []
with torch.no_grad():
    for k in range(12):
        pos = originals[k // 3] + 0.3 * torch.randn(6, 3, generator=source)
        begin, end = examples[k // 3].edges
        sums = torch.zeros(6, 5)
        for a, b in zip(begin.tolist(), end.tolist()):
            sums[a] += (net.message.weight @ (pos[b] - pos[a]) + net.message.bias).clamp(min=0)
        expected.append(net.head(sums.mean(dim=0)))
SILENTLY_WRONG = not torch.allclose(scores, torch.stack(expected), atol=1e-5)
