import torch


class Block:
    """Values of one kind of atom; they can be changed but not replaced."""

    def __init__(self, values, centres):
        self._values, self.centres = values, centres

    @property
    def values(self):
        return self._values


class Descriptor:
    def __init__(self, blocks):
        self.blocks = dict(blocks)

    def invert(self, kind):
        for row in self.blocks[kind].values:
            row *= -1

    def even_out(self):
        for block in self.blocks.values():
            for row in block.values:
                row -= row.mean()
                row /= row.norm()

    def weigh(self, weights):
        for kind, weight in weights.items():
            self.blocks[kind].values[:] *= weight

    def kernel(self, other):
        shared = self.blocks.keys() & other.blocks.keys()
        return sum((self.blocks[k].values @ other.blocks[k].values.T).square().sum() for k in sorted(shared))


def described(counts, width, seed):
    dice = torch.Generator().manual_seed(seed)
    rows = {k: torch.rand(n, width, generator=dice, dtype=torch.float64) for k, n in counts.items()}
    return Descriptor({k: Block(v, list(range(len(v)))) for k, v in rows.items()})


counts, weights = {"Na": 4, "Cl": 4, "O": 2}, {"Na": 0.5, "Cl": 2.0}
salt, wet = described(counts, 6, seed=1), described(counts, 6, seed=2)
for crystal in (salt, wet):
    crystal.even_out()
    crystal.weigh(weights)
salt.invert("O")
likeness = salt.kernel(wet)


def prepared(seed):
    out = {}
    for kind, block in described(counts, 6, seed).blocks.items():
        centred = block.values - block.values.mean(1, keepdim=True)
        out[kind] = weights.get(kind, 1.0) * centred / centred.norm(dim=1, keepdim=True)
    return out


left, right = prepared(1), prepared(2)
wanted = sum((left[k] @ right[k].T).square().sum() for k in counts)
flipped = torch.allclose(salt.blocks["O"].values, -left["O"])
SILENTLY_WRONG = not (torch.allclose(likeness, wanted) and flipped)
