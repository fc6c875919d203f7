import torch
import torch.nn as nn


class Router(nn.Module):
    """Scores of bins; the unit rows of the weight are prepared once per version."""

    def __init__(self, traits, bins):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(bins, traits), requires_grad=False)
        self._prepared, self.made = None, 0

    def prepared(self):
        w = self.weight
        key = (w.data_ptr(), w._version, tuple(w.shape), w.dtype)
        if self._prepared is None or self._prepared[0] != key:
            self._prepared = (key, (w / w.norm(dim=1, keepdim=True)).T.contiguous())
            self.made += 1
        return self._prepared[1]

    @torch.no_grad()
    def load(self, weight):
        self.weight.copy_(weight)

    def forward(self, letters):
        return letters @ self.prepared()


class Office:
    def __init__(self, router):
        self.router, self.loads = router, []

    def shift(self, letters, weight=None):
        if weight is not None:
            self.router.load(weight)
        bins = self.router(letters).argmax(1)
        self.loads.append(torch.bincount(bins, minlength=self.router.weight.shape[0]))


torch.manual_seed(63)
office = Office(Router(traits=4, bins=6))
first = office.router.weight.detach().clone()
updates = [None, None, torch.randn(6, 4), torch.randn(6, 4), None]
shifts = [torch.randn(50, 4) for _ in updates]
for letters, weight in zip(shifts, updates):
    office.shift(letters, weight)

wanted, now = [], first
for letters, weight in zip(shifts, updates):
    now = now if weight is None else weight
    best = torch.cosine_similarity(letters[:, None], now[None], dim=2).argmax(1)
    wanted.append(torch.bincount(best, minlength=6))
SILENTLY_WRONG = not (torch.equal(torch.stack(office.loads), torch.stack(wanted)) and office.router.made == 3)
