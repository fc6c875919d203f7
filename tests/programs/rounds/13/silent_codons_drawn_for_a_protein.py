import torch


def masked(scores, allowed):
    return scores.masked_fill(~allowed, float("-inf"))


def draw(scores, temperature, generator):
    scores /= temperature
    chances = scores.softmax(dim=1)
    picks = torch.multinomial(chances, 1, generator=generator).squeeze(1)
    surprise = -chances.gather(1, picks[:, None]).log().sum()
    return picks, float(surprise)


class Designer:
    def __init__(self, net, temperature, seed):
        self.net, self.temperature = net, temperature
        self.dice = torch.Generator().manual_seed(seed)

    @torch.no_grad()
    def variants(self, protein, allowed, count):
        scores = masked(self.net(protein), allowed)
        designs = []
        while len(designs) < count:
            designs.append(draw(scores, self.temperature, self.dice))
        return designs


torch.manual_seed(137)
net = torch.nn.Sequential(torch.nn.Embedding(20, 8), torch.nn.Linear(8, 16))
protein = torch.randint(0, 20, (25,))
allowed = torch.rand(25, 16) < 0.5
allowed[:, 0] = True
designs = Designer(net, 0.6, seed=5).variants(protein, allowed, 6)

with torch.no_grad():
    logits = net(protein) / 0.6
    logits[~allowed] = -1e30
    logs = logits - logits.logsumexp(dim=1, keepdim=True)
found = torch.tensor([surprise for _, surprise in designs])
expected = torch.stack([-logs[torch.arange(25), picks].sum() for picks, _ in designs])
SILENTLY_WRONG = not torch.allclose(found, expected, atol=1e-3)
