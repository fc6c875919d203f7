import torch


class RecentBids:
    """The last bids on some lots, the newest in column 0; a second buffer takes the moved columns."""

    def __init__(self, lots, size):
        self.bids = torch.zeros(lots, size)
        self.spare = torch.zeros(lots, size)

    def push(self, bid):
        self.spare[:, 1:] = self.bids[:, :-1]
        self.spare[:, 0] = bid
        self.bids, self.spare = self.spare, self.bids


class RingBids:
    def __init__(self, lots, size):
        self.ring = torch.zeros(lots, size)
        self.place = 0

    def push(self, bid):
        self.ring[:, self.place] = bid
        self.place = (self.place + 1) % self.ring.shape[1]

    def newest_first(self):
        return self.ring.roll(-self.place, dims=1).flip(1)


torch.manual_seed(63)
bids = (100.0 + 10.0 * torch.rand(30, 4).cumsum(dim=0)).round()
recent, ring = RecentBids(4, 12), RingBids(4, 12)
steepest = []
for bid in bids:
    recent.push(bid)
    ring.push(bid)
    steepest.append(float((recent.bids[:, 0] - recent.bids[:, -1]).max()))
print("newest", recent.bids[:, 0].tolist(), "steepest climb", max(steepest[12:]))

expected = torch.tensor([lot[::-1][:12] for lot in bids.T.tolist()])
SILENTLY_WRONG = not torch.equal(recent.bids, expected) or not torch.equal(ring.newest_first(), expected)
