import torch


class InkBoard:
    """Ink curve agreed on by several print shops, held in one table that is rewritten each round."""

    def __init__(self, tones):
        self.curve = torch.linspace(0, 1, tones, dtype=torch.float64)

    def agree(self, shops):
        sheets = sum(shop["sheets"] for shop in shops)
        self.curve.zero_()
        for shop in shops:
            self.curve.add_(shop["curve"], alpha=shop["sheets"] / sheets)


def tune(curve, target, steps=3, pace=0.3):
    curve = curve.clone()
    for _ in range(steps):
        curve -= pace * (curve - target)
    return curve


torch.manual_seed(9)
tones = torch.linspace(0, 1, 9, dtype=torch.float64)
targets = [tones ** (1 + 0.2 * k) for k in range(3)]
sheets = [100, 250, 50]
board = InkBoard(tones=9)
for week in range(5):
    shops = [
        {"sheets": n, "curve": tune(board.curve, target)} for n, target in zip(sheets, targets)
    ]
    board.agree(shops)
print("agreed curve", board.curve.tolist())

share = [n / 400 for n in sheets]
aim = sum(s * target for s, target in zip(share, targets))
expected = aim + (tones - aim) * 0.7 ** 15
SILENTLY_WRONG = not torch.allclose(board.curve, expected)
