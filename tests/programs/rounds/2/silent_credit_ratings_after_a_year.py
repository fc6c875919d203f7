import torch


class RatingMigration:
    RATINGS = ("A", "B", "C", "D")

    def __init__(self, transition):
        self.step_matrix = transition.t().contiguous()

    def project(self, shares, months):
        state = shares.clone()
        for _ in range(months):
            torch.mv(self.step_matrix, state, out=state)
        return state

    def expected_loss(self, shares, months, exposure, recovery=0.4):
        state = self.project(shares, months)
        return exposure * state[-1] * (1 - recovery)


transition = torch.tensor([
    [0.95, 0.04, 0.01, 0.00],
    [0.03, 0.90, 0.05, 0.02],
    [0.00, 0.06, 0.84, 0.10],
    [0.00, 0.00, 0.00, 1.00],
])
shares = torch.tensor([0.6, 0.3, 0.1, 0.0])
loss = RatingMigration(transition).expected_loss(shares, months=12, exposure=1e6)

default_share = (shares @ torch.linalg.matrix_power(transition, 12))[-1]
expected = 1e6 * default_share * 0.6
SILENTLY_WRONG = not torch.allclose(loss, expected, rtol=1e-4)
