import torch


class MeanError:
    def __init__(self):
        self.total = torch.zeros((), dtype=torch.float64)
        self.count = torch.zeros((), dtype=torch.int64)

    def update(self, guess, weight):
        self.total += (guess - weight).abs().sum()
        self.count += weight.numel()

    def compute(self):
        return (self.total / self.count).item()

    def reset(self):
        self.total.zero_()
        self.count.zero_()


class HarvestReport:
    """Error of the guessed weight of melons, in each week and in the season so far."""

    def __init__(self):
        self.week, self.season = MeanError(), MeanError()
        self.weekly, self.so_far = [], []

    def add(self, guess, weight):
        self.week.update(guess, weight)
        self.season.update(guess, weight)

    def end_week(self):
        self.weekly.append(self.week.compute())
        self.so_far.append(self.season.compute())
        self.week.reset()


torch.manual_seed(45)
report = HarvestReport()
errors = []
for week in range(6):
    errors.append([])
    for _ in range(4):
        weight = 2 + torch.rand(15 + week)
        guess = weight + 0.3 / (1 + week) * torch.randn(15 + week)
        report.add(guess, weight)
        errors[-1] += (guess - weight).abs().tolist()
    report.end_week()
print("weekly", report.weekly, "so far", report.so_far)

wrong, everything = False, []
for week, line in enumerate(errors):
    everything = everything + line
    wrong = wrong or abs(report.weekly[week] - sum(line) / len(line)) > 1e-5
    wrong = wrong or abs(report.so_far[week] - sum(everything) / len(everything)) > 1e-5
SILENTLY_WRONG = wrong
