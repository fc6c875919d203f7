from dataclasses import dataclass

import torch


@dataclass
class Notice:
    train: int
    minutes: float


class Boards:
    """Boards of all platforms; they are one row of minutes that each platform looks at."""

    def __init__(self, timetable, platforms):
        self.row = timetable.clone()
        self.shown = self.row.unsqueeze(0).expand(platforms, -1)

    def announce(self, notice):
        self.row[notice.train] += notice.minutes

    def cancel(self, train):
        self.shown[0, train] = float("inf")

    def next_train(self, now):
        left = self.shown - now
        return left.masked_fill(left < 0, float("inf")).argmin(dim=1)


timetable = torch.tensor([5.0, 12.0, 20.0, 31.0, 44.0])
boards = Boards(timetable, platforms=6)
for notice in [Notice(1, 9.0), Notice(2, 3.0), Notice(1, 4.0)]:
    boards.announce(notice)
boards.cancel(2)
shown = boards.next_train(now=10.0)
print("next train on each board", shown.tolist())

due = [5.0, 25.0, float("inf"), 31.0, 44.0]
coming = min((t, k) for k, t in enumerate(due) if t >= 10.0)[1]
SILENTLY_WRONG = (
    shown.tolist() != [coming] * 6
    or not torch.equal(boards.shown, torch.tensor(due).repeat(6, 1))
    or timetable.tolist() != [5.0, 12.0, 20.0, 31.0, 44.0]
)
