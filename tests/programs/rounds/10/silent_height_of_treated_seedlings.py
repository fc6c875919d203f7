import numpy as np
import torch


def difference(heights, treated):
    return heights[treated].mean() - heights[~treated].mean()


def permutation_test(heights, treated, rounds, rng):
    observed = difference(heights, treated)
    shuffled = treated.numpy()
    extreme = 0
    for _ in range(rounds):
        rng.shuffle(shuffled)
        chance = difference(heights, torch.from_numpy(shuffled))
        extreme += int(chance.abs() >= observed.abs())
    return (extreme + 1) / (rounds + 1)


def trial_report(heights, treated, rng):
    report = {"p": permutation_test(heights, treated, rounds=300, rng=rng)}
    report["effect"] = float(difference(heights, treated))
    spread = torch.sqrt((heights[treated].var() + heights[~treated].var()) / 2)
    report["size"] = report["effect"] / float(spread)
    return report


torch.manual_seed(3)
treated = torch.zeros(60, dtype=torch.bool)
treated[::3] = True
heights = 12 + torch.randn(60) + 1.5 * treated
values, groups = heights.tolist(), treated.tolist()
report = trial_report(heights, treated, np.random.default_rng(9))

with_treatment = [value for value, group in zip(values, groups) if group]
without = [value for value, group in zip(values, groups) if not group]
expected = sum(with_treatment) / len(with_treatment) - sum(without) / len(without)
SILENTLY_WRONG = abs(report["effect"] - expected) > 1e-4
