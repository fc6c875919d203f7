import torch
import torch.nn as nn


class Cloud:
    def __init__(self, pos, edges, kind):
        self.pos, self.edges, self.kind = pos, edges, kind

    def again(self):
        return Cloud(self.pos.clone(), self.edges, self.kind)


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
        sent = self.message(cloud.pos[end] - cloud.pos[begin]).relu_()
        gathered = torch.zeros(len(cloud.pos), sent.shape[1])
        gathered.index_add_(0, begin, sent)
        return self.head(gathered.mean(dim=0))


def enlarge(examples, jitter, copies):
    return [jitter(example.again()) for example in examples for _ in range(copies)]


torch.manual_seed(152)
examples = [Cloud(torch.rand(5, 3), torch.randint(0, 5, (2, 11)), k % 2) for k in range(3)]
originals = [example.pos.clone() for example in examples]
net = EdgeNet(width=4)
dataset = enlarge(examples, Jitter(reach=0.2, seed=9), copies=4)
with torch.no_grad():
    scores = torch.stack([net(cloud) for cloud in dataset])

source, expected = torch.Generator().manual_seed(9), []
with torch.no_grad():
    for k in range(12):
        pos = originals[k // 4] + 0.2 * torch.randn(5, 3, generator=source)
        sums = [torch.zeros(4) for _ in range(5)]
        for a, b in zip(*examples[k // 4].edges.tolist()):
            sums[a] = sums[a] + (net.message.weight @ (pos[b] - pos[a]) + net.message.bias).clamp(min=0)
        expected.append(net.head(torch.stack(sums).mean(dim=0)))
SILENTLY_WRONG = not torch.allclose(scores, torch.stack(expected), atol=1e-5)
